// Replaces @inquirer/editor in the bundle. The program has no editor prompt, and the package brings 550 KiB of character sets.
function editorPrompt() {
  throw new Error('the editor prompt is not in the bundle');
}

export { editorPrompt as default };
