// `errand completion`: prints a script for a shell, made from the definitions of the verbs.
import { misuse } from '../../terminal/arguments.ts'
import { print } from '../../terminal/io.ts'
import { completionScript, shells } from '../completion-script.ts'
import { defineVerb } from '../verb.ts'

export const completion = defineVerb({
  usage: `completion ${shells.join('|')}`,
  help: [
    'Prints a script with which the TAB key completes the verbs and options of errand.',
    '  bash  source <(errand completion bash)            in ~/.bashrc',
    '  zsh   source <(errand completion zsh)             in ~/.zshrc, after compinit',
    '  fish  errand completion fish | source             in ~/.config/fish/config.fish',
  ].join('\n'),
  positionals: { max: 1 },
  async run(io, { positionals: [shell] }, all) {
    const known = shells.find((each) => each === shell)
    if (known === undefined) {
      const got = shell === undefined ? 'The shell is missing' : `There is no completion for "${shell}"`
      throw misuse(`${got}. The shells are ${shells.join(', ')}, as in "errand completion bash".`)
    }
    print(io, await completionScript(known, await all()))
  },
})
