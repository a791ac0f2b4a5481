// Scripts that complete command lines in a shell, made from the definitions of the verbs: the verbs at each place, and the options of
// each verb. Where neither fits, the shell completes the names of files.
import type { ParseArgsOptionsConfig } from 'node:util'
import { commonOptions } from '../terminal/arguments.ts'
import type { VerbTable } from './verb.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What may follow some words of a command line. */
interface Place {
  /** The words that lead there: empty at the beginning, `board claim` after a verb of a verb. */
  path: string
  verbs: ReadonlyArray<{ name: string; summary: string }>
  options: ReadonlyArray<{ name: string; short: string | undefined; takesValue: boolean }>
}

/** The script for a shell, with every verb of the table and the verbs below it. */
export async function completionScript(shell: Shell, verbs: VerbTable): Promise<string> {
  const summaries = Object.entries(verbs).map(([name, { summary }]) => ({ name, summary }))
  const help = { name: 'help', summary: 'describe all verbs, or one' }
  const places: Place[] = [
    { path: '', verbs: [...summaries, help], options: [] },
    { path: 'help', verbs: summaries, options: [] },
    ...(await placesIn(verbs, '')),
  ]
  return writers[shell](places)
}

async function placesIn(table: VerbTable, before: string): Promise<Place[]> {
  const places = Object.entries(table).map(async ([name, entry]): Promise<Place[]> => {
    const verb = (await entry.load())[name]
    const below = verb?.verbs ?? {}
    const path = before === '' ? name : `${before} ${name}`
    const verbs = Object.entries(below).map(([each, { summary }]) => ({ name: each, summary }))
    return [
      { path, verbs, options: optionsOf({ ...verb?.options, ...commonOptions }) },
      ...(await placesIn(below, path)),
    ]
  })
  return (await Promise.all(places)).flat()
}

function optionsOf(options: ParseArgsOptionsConfig): Place['options'] {
  return Object.entries(options).map(([name, { type, short }]) => ({ name, short, takesValue: type === 'string' }))
}

const writers: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish }

/** A text of a script in single quotes, which bash and zsh take literally. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Pairs of the place and the next word, as patterns of `case`. */
function steps(places: readonly Place[]): string[] {
  return places.filter(({ path }) => path !== '').map(({ path }) => placePattern(path))
}

function placePattern(path: string): string {
  return quoted(path === '' ? '' : ` ${path}`)
}

function flagsOf(options: Place['options']): string {
  return options.map(({ name }) => `--${name}`).join(' ')
}

function bash(places: readonly Place[]): string {
  const choices = places.map(({ path, verbs, options }) => {
    const names = verbs.map(({ name }) => name).join(' ')
    return `    ${placePattern(path)}) verbs=${quoted(names)} options=${quoted(flagsOf(options))} ;;`
  })
  return `_errand() {
  local current=\${COMP_WORDS[COMP_CWORD]} place='' verbs='' options='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$place \${COMP_WORDS[index]}" in
      ${steps(places).join('|')}) place="$place \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$place" in
${choices.join('\n')}
  esac
  if [[ $current == -* ]]; then verbs=$options; fi
  COMPREPLY=($(compgen -W "$verbs" -- "$current"))
}
complete -o default -F _errand errand`
}

function zsh(places: readonly Place[]): string {
  const choices = places.map(({ path, verbs, options }) => {
    // A colon separates a word from its description.
    const names = verbs.map(({ name, summary }) => quoted(`${name}:${summary}`)).join(' ')
    return `    (${placePattern(path)}) verbs=(${names}) options=(${flagsOf(options)}) ;;`
  })
  return `#compdef errand
_errand() {
  local place='' word
  local -a verbs options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${steps(places).join('|')}) place="$place $word" ;;
    esac
  done
  case "$place" in
${choices.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then compadd -- $options
  elif (( $#verbs )); then _describe verb verbs
  else _files; fi
}
compdef _errand errand`
}

function fish(places: readonly Place[]): string {
  const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const patterns = places.flatMap(({ path }) => (path === '' ? [] : [literal(` ${path}`)]))
  const lines = places.flatMap(({ path, verbs, options }) => {
    const here = `-n ${literal(`test (__errand_place) = "${path === '' ? '' : ` ${path}`}"`)}`
    return [
      ...verbs.map(({ name, summary }) => `complete -c errand -f ${here} -a ${name} -d ${literal(summary)}`),
      ...options.map(
        ({ name, short, takesValue }) =>
          `complete -c errand ${here} -l ${name}${short === undefined ? '' : ` -s ${short}`}${takesValue ? ' -r' : ''}`,
      ),
    ]
  })
  return `function __errand_place
  set -l place ''
  set -l typed (commandline -opc)
  set -e typed[1]
  for word in $typed
    switch "$place $word"
      case ${patterns.join(' ')}
        set place "$place $word"
    end
  end
  echo "$place"
end
${lines.join('\n')}`
}
