#!/usr/bin/env node
require('../dist/entry.cjs');
