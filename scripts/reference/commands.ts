// The commands of errand as tables, made of what `errand help` prints.
import { fieldHelp } from '../../src/surfaces/cli/field-flags.ts'
import type { Verb, VerbTable } from '../../src/surfaces/cli/verb.ts'
import { allVerbGroups } from '../../src/surfaces/cli/verbs.ts'
import { filterUsage } from '../../src/surfaces/terminal/filter-flags.ts'
import { code, table } from './table.ts'

interface Option {
  flag: string
  meaning: string
}

interface Command {
  /** `schedule add`. */
  name: string
  usage: string
  summary: string
  /** What its help says, line by line, without the options. */
  text: string[]
  options: Option[]
}

/** A table for each group, a section for each command with options of its own, and the options that several commands have. */
export async function commandTables(): Promise<string> {
  const groups = await Promise.all(
    (await allVerbGroups()).map(async ({ title, verbs }) => ({ title, commands: await commandsOf(verbs) })),
  )
  const users = usersOf(groups.flatMap(({ commands }) => commands))
  const isShared = (option: Option) => (users.get(textOf(option))?.length ?? 0) > 2
  const parts = groups.flatMap(({ title, commands }) => [
    `## ${title}`,
    table(
      ['command', 'what it does'],
      commands.map(({ usage, summary }) => [code(usage), summary]),
    ),
    ...commands.flatMap((command) => sectionOf(command, isShared)),
  ])
  const shared = Array.from(users.values()).filter((uses) => uses.length > 2)
  const rows = shared.map((uses) => {
    const [{ option }] = uses as [Use]
    return [code(option.flag), option.meaning, uses.map(({ name }) => code(name)).join(' ')]
  })
  return [...parts, '## Options of several commands', table(['option', 'meaning', 'commands'], rows)].join('\n\n')
}

async function commandsOf(verbs: VerbTable, above = ''): Promise<Command[]> {
  const commands: Command[] = []
  for (const [word, { summary, load }] of Object.entries(verbs)) {
    const verb = (await load())[word] as Verb
    const name = `${above}${word}`
    const usage = verb.usage.replace(filterUsage, '[FILTER]…')
    commands.push({ name, usage, summary, ...helpOf(verb.help) }, ...(await commandsOf(verb.verbs ?? {}, `${name} `)))
  }
  return commands
}

/** The options that are fields of a task have a page of their own. */
const fields = fieldHelp()

/** Lines of options are indented: `  --flag  meaning`, and further lines of the meaning more so. */
function helpOf(help: string): Pick<Command, 'text' | 'options'> {
  const text: string[] = []
  const options: Option[] = []
  for (const line of help.split('\n').filter((each) => !fields.includes(each))) {
    const [, flag, meaning] = /^ {2}(\S.*?) {2,}(\S.*)$/.exec(line) ?? []
    const last = options.at(-1)
    if (flag !== undefined && meaning !== undefined) options.push({ flag, meaning })
    else if (line.startsWith(' ') && last !== undefined) last.meaning += ` ${line.trim()}`
    else if (line.trim() !== '') text.push(line.trim().replace(/:$/, '.'))
  }
  return { text, options }
}

interface Use {
  name: string
  option: Option
}

const textOf = ({ flag, meaning }: Option) => `${flag} ${meaning}`

/** The commands of each option, by its text. */
function usersOf(commands: readonly Command[]): Map<string, Use[]> {
  return Map.groupBy(
    commands.flatMap(({ name, options }) => options.map((option) => ({ name, option }))),
    ({ option }) => textOf(option),
  )
}

function sectionOf({ name, text, options }: Command, isShared: (option: Option) => boolean): string[] {
  const own = options.filter((option) => !isShared(option))
  if (own.length === 0) return []
  const rows = own.map(({ flag, meaning }) => [code(flag), meaning])
  return [`### errand ${name}`, text.join('\n'), table(['option', 'meaning'], rows)]
}
