// Scripts that complete command lines in a shell, made from the definitions of the verbs: the verbs at each place, the options of each verb,
// and the tasks and targets of plans, for which the scripts call `errand completion`. Where nothing fits, the shell completes the names of files.
import type { ParseArgsOptionsConfig } from 'node:util'
import { commonOptions } from '../terminal/arguments.ts'
import type { Verb, VerbTable } from './verb.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What may follow some words of a command line. */
interface Place {
  /** The words that lead there: empty at the beginning, `board claim` after a verb of a verb. */
  path: string
  verbs: ReadonlyArray<{ name: string; summary: string }>
  options: ReadonlyArray<{ name: string; short: string | undefined; takesValue: boolean }>
  /** What the arguments of the verb name, as its usage has them. */
  takes: '' | 'tasks' | 'targets'
}

/** The script for a shell, with every verb of the table and the verbs below it. */
export async function completionScript(shell: Shell, verbs: VerbTable): Promise<string> {
  const summaries = Object.entries(verbs).map(([name, { summary }]) => ({ name, summary }))
  const help = { name: 'help', summary: 'describe all verbs, or one' }
  const places: Place[] = [
    { path: '', verbs: [...summaries, help], options: [], takes: '' },
    { path: 'help', verbs: summaries, options: [], takes: '' },
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
      { path, verbs, options: optionsOf({ ...verb?.options, ...commonOptions }), takes: takenBy(path, verb) },
      ...(await placesIn(below, path)),
    ]
  })
  return (await Promise.all(places)).flat()
}

function takenBy(path: string, verb: Verb | undefined): Place['takes'] {
  const args = verb?.usage.slice(path.length + 1) ?? ''
  if (/^\[?ID\b/.test(args)) return 'tasks'
  return args.startsWith('PLAN [TARGET') ? 'targets' : ''
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

// The ledger is read without a keyboard, so that a ledger that is not trusted is passed over without a question.

function bash(places: readonly Place[]): string {
  const choices = places.map(({ path, verbs, options, takes }) => {
    const names = verbs.map(({ name }) => name).join(' ')
    return `    ${placePattern(path)}) verbs=${quoted(names)} options=${quoted(flagsOf(options))} takes=${quoted(takes)} ;;`
  })
  return `_errand() {
  local program=\${_errand_program:-errand} current=\${COMP_WORDS[COMP_CWORD]} place='' verbs='' options='' takes='' plan='' value rest index
  local -a ledger=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    value=\${COMP_WORDS[index]}
    if [[ $value == --ledger ]]; then ledger=(--ledger "\${COMP_WORDS[index + 1]}"); fi
    case "$place $value" in
      ${steps(places).join('|')}) place="$place $value" ;;
      *) if [[ -z $plan && -f $value ]]; then plan=$value; fi ;;
    esac
  done
  case "$place" in
${choices.join('\n')}
  esac
  if [[ $current == -* ]]; then takes='' verbs=$options; fi
  COMPREPLY=($(compgen -W "$verbs" -- "$current"))
  if [[ $takes == tasks ]]; then plan=''
  elif [[ $takes != targets || -z $plan ]]; then return
  fi
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == "$current"* ]]; then COMPREPLY+=("$value"); fi
  done < <("$program" completion "$takes" \${plan:+"$plan"} "\${ledger[@]}" < /dev/null 2> /dev/null)
}
_errand_npx() {
  local _errand_program='' folder=$PWD
  if ((COMP_CWORD < 2)) || [[ \${COMP_WORDS[1]} != errand ]]; then
    if [[ -n $_errand_npx_before ]]; then "$_errand_npx_before" "$@"; fi
    return
  fi
  local -a words=("\${COMP_WORDS[@]:1}")
  local -a COMP_WORDS=("\${words[@]}")
  local COMP_CWORD=$((COMP_CWORD - 1))
  while [[ -n $folder && ! -x $folder/node_modules/.bin/errand ]]; do folder=\${folder%/*}; done
  if [[ -n $folder ]]; then _errand_program=$folder/node_modules/.bin/errand; fi
  _errand
}
_errand_npx_found=$(complete -p npx 2> /dev/null)
if [[ $_errand_npx_found == *' -F '* && $_errand_npx_found != *_errand_npx* ]]; then
  _errand_npx_before=\${_errand_npx_found#* -F }
  _errand_npx_before=\${_errand_npx_before%% *}
fi
complete -o default -F _errand errand
complete -o default -F _errand_npx npx`
}

function zsh(places: readonly Place[]): string {
  const choices = places.map(({ path, verbs, options, takes }) => {
    // A colon separates a word from its description.
    const names = verbs.map(({ name, summary }) => quoted(`${name}:${summary}`)).join(' ')
    return `    (${placePattern(path)}) verbs=(${names}) options=(${flagsOf(options)}) takes=${quoted(takes)} ;;`
  })
  return `#compdef errand
_errand() {
  local program=\${_errand_program:-errand} place='' takes='' plan='' word before=''
  local -a verbs options ledger found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ $before == --ledger ]]; then ledger=(--ledger "$word"); fi
    before=$word
    case "$place $word" in
      (${steps(places).join('|')}) place="$place $word" ;;
      (*) if [[ -z $plan && -f $word ]]; then plan=$word; fi ;;
    esac
  done
  case "$place" in
${choices.join('\n')}
  esac
  if [[ $takes == tasks ]]; then
    found=("\${(@f)$("$program" completion tasks $ledger < /dev/null 2> /dev/null)}")
  elif [[ $takes == targets && -n $plan ]]; then
    found=("\${(@f)$("$program" completion targets "$plan" < /dev/null 2> /dev/null)}")
  fi
  found=("\${(@)found//$'\\t'/:}")
  if [[ $PREFIX == -* ]]; then compadd -- $options
  elif (( $#verbs )); then _describe verb verbs
  elif [[ -n \${found[1]} ]]; then _describe $takes found
  else _files; fi
}
_errand_npx() {
  local _errand_program='' folder=$PWD
  if (( CURRENT < 3 )) || [[ $words[2] != errand ]]; then
    if [[ -n $_errand_npx_before ]]; then $_errand_npx_before "$@"; else _default; fi
    return
  fi
  shift words
  (( CURRENT-- ))
  while [[ -n $folder && ! -x $folder/node_modules/.bin/errand ]]; do folder=\${folder%/*}; done
  if [[ -n $folder ]]; then _errand_program=$folder/node_modules/.bin/errand; fi
  _errand
}
if [[ -n \${_comps[npx]} && \${_comps[npx]} != _errand_npx ]]; then _errand_npx_before=\${_comps[npx]}; fi
compdef _errand errand
compdef _errand_npx npx`
}

function fish(places: readonly Place[]): string {
  const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const patterns = places.flatMap(({ path }) => (path === '' ? [] : [literal(` ${path}`)]))
  const lines = places.flatMap(({ path, verbs, options, takes }) => {
    const here = `-n ${literal(`test (__errand_place) = "${path === '' ? '' : ` ${path}`}"`)}`
    return [
      ...verbs.map(({ name, summary }) => `complete -c errand -f ${here} -a ${name} -d ${literal(summary)}`),
      ...(takes === '' ? [] : [`complete -c errand ${here} -a '(__errand_found ${takes})'`]),
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
function __errand_found
  set -l ledger
  set -l plan
  set -l before ''
  for word in (commandline -opc)
    test "$before" = --ledger; and set ledger --ledger $word
    test -z "$plan" -a -f "$word"; and set plan $word
    set before $word
  end
  if test $argv[1] = tasks
    errand completion tasks $ledger < /dev/null 2> /dev/null
  else if test -n "$plan"
    errand completion targets $plan < /dev/null 2> /dev/null
  end
end
${lines.join('\n')}
complete -c npx -f -n 'test (count (commandline -opc)) -ge 2; and test (commandline -opc)[2] = errand' -a '(complete -C (string replace -r "^\\s*npx\\s+" "" -- (commandline -cp)))'`
}
