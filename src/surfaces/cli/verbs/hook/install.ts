// `errand hook install`: the settings that make a coding agent call our hooks, for its file or into it: two entries, beside whatever else
// stands there.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { ErrandError } from '../../../../core/errors.ts'
import { messageOf } from '../../../../core/stored-error.ts'
import { misuse, switches, texts } from '../../../../terminal/arguments.ts'
import { print } from '../../../../terminal/io.ts'
import { defineVerb } from '../../verb.ts'

const defaultFile = '.claude/settings.json'
/** Never fetched from a registry: what runs in every session is what is installed. */
const defaultCommand = 'npx --no-install errand'

export const install = defineVerb({
  usage: 'hook install [--write] [--settings FILE] [--command COMMAND]',
  help: [
    'Prints the settings that make Claude Code call the hooks when a session begins and ends.',
    '  --write            adds them to the file of settings, beside what stands there',
    `  --settings FILE    which file; default ${defaultFile}`,
    `  --command COMMAND  how errand is started; default "${defaultCommand}"`,
  ].join('\n'),
  options: { ...texts('settings', 'command'), ...switches('write') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const wanted = hookSettings(values.command ?? defaultCommand)
    if (!values.write) return print(io, JSON.stringify(wanted, null, 2))
    const file = resolve(io.cwd, values.settings ?? defaultFile)
    const written = await textOf(file)
    const settings = withHooks(written === undefined ? {} : readSettings(written, file), wanted)
    if (settings === undefined) print(io, `${file} calls the hooks already.`)
    else {
      await replace(file, `${JSON.stringify(settings, null, 2)}\n`)
      print(io, `${file} calls the hooks from now on.`)
    }
  },
})

/** Undefined for a file that is not there. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cannot('read', file, error)
  }
}

/** Whole or not at all: an agent may be reading it. */
async function replace(file: string, text: string): Promise<void> {
  const beside = `${file}.${process.pid}.new`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(beside, text)
    await rename(beside, file)
  } catch (error) {
    throw cannot('write', file, error)
  }
}

function cannot(what: string, file: string, error: unknown): Error {
  return misuse(`Cannot ${what} ${file}: ${messageOf(error)}.`, { file })
}

const hookEntrySchema = z.looseObject({ hooks: z.array(z.looseObject({ command: z.string().optional() })) })
const settingsSchema = z.looseObject({ hooks: z.record(z.string(), z.array(hookEntrySchema)).optional() })

type AgentSettings = z.output<typeof settingsSchema>

/** Seconds after which the agent gives up on a hook: longer than the hook itself takes. */
const patience = 10

/** The hooks, and nothing else. `command` is how errand is started. */
function hookSettings(command: string): AgentSettings {
  const entry = (hook: string) => [
    { hooks: [{ type: 'command', command: `${command} hook ${hook}`, timeout: patience }] },
  ]
  return { hooks: { SessionStart: entry('session-start'), SessionEnd: entry('session-end') } }
}

/** The settings with the hooks beside those that are there. Undefined when there is nothing to add. */
function withHooks(settings: AgentSettings, { hooks: wanted = {} }: AgentSettings): AgentSettings | undefined {
  const hooks = { ...settings.hooks }
  let added = false
  for (const [event, entries] of Object.entries(wanted)) {
    const present = hooks[event] ?? []
    const commands = new Set(present.flatMap((each) => each.hooks.map(({ command }) => command)))
    const missing = entries.filter((each) => each.hooks.some(({ command }) => !commands.has(command)))
    if (missing.length === 0) continue
    hooks[event] = [...present, ...missing]
    added = true
  }
  return added ? { ...settings, hooks } : undefined
}

/** @throws ErrandError INVALID_INPUT for what is not such settings: it must not be overwritten. */
function readSettings(text: string, file: string): AgentSettings {
  try {
    return settingsSchema.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof z.ZodError ? (error.issues[0]?.message ?? 'it has another shape') : String(error)
    throw new ErrandError(
      'INVALID_INPUT',
      `${file} does not hold settings that hooks could be added to: ${why}. Add what "errand hook install" prints by hand.`,
      { file },
      error,
    )
  }
}
