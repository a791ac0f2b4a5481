// `errand hook install`: prints the settings that make a coding agent call the hooks, or adds them to its settings file. Other
// settings in the file are kept.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { ErrandError } from '../../../../core/errors.ts'
import { messageOf } from '../../../../core/stored-error.ts'
import { misuse, switches, texts } from '../../../terminal/arguments.ts'
import { print } from '../../../terminal/io.ts'
import { defineVerb } from '../../verb.ts'

const defaultFile = '.claude/settings.json'
/** `--no-install`, so that a session runs the installed version and never downloads one. */
const defaultCommand = 'npx --no-install errand'

export const install = defineVerb({
  usage: 'hook install [--write] [--settings FILE] [--command COMMAND]',
  help: [
    'Prints the settings that make Claude Code call the hooks when a session starts and ends.',
    '  --write            add them to the settings file, and keep its other settings',
    `  --settings FILE    the settings file; default ${defaultFile}`,
    `  --command COMMAND  the command that starts errand; default "${defaultCommand}"`,
  ].join('\n'),
  options: { ...texts('settings', 'command'), ...switches('write') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const additions = hookSettings(values.command ?? defaultCommand)
    if (!values.write) return print(io, JSON.stringify(additions, null, 2))
    const file = resolve(io.cwd, values.settings ?? defaultFile)
    const written = await textOf(file)
    const settings = withHooks(written === undefined ? {} : readSettings(written, file), additions)
    if (settings === undefined) print(io, `${file} already calls the hooks.`)
    else {
      await replace(file, `${JSON.stringify(settings, null, 2)}\n`)
      print(io, `${file} now calls the hooks.`)
    }
  },
})

/** Returns undefined for a missing file. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cannot('read', file, error)
  }
}

/** Replaces the file atomically: an agent may be reading it. */
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

/** The agent's timeout for a hook, in seconds: longer than the timeout of the hook itself. */
const agentTimeoutSeconds = 10

/** Settings with only the hooks. `command` starts errand. */
function hookSettings(command: string): AgentSettings {
  const entry = (hook: string) => [
    { hooks: [{ type: 'command', command: `${command} hook ${hook}`, timeout: agentTimeoutSeconds }] },
  ]
  return { hooks: { SessionStart: entry('session-start'), SessionEnd: entry('session-end') } }
}

/** Adds missing hooks to the settings. Returns undefined when nothing is missing. */
function withHooks(settings: AgentSettings, { hooks: additions = {} }: AgentSettings): AgentSettings | undefined {
  const hooks = { ...settings.hooks }
  let added = false
  for (const [event, entries] of Object.entries(additions)) {
    const present = hooks[event] ?? []
    const commands = new Set(present.flatMap((each) => each.hooks.map(({ command }) => command)))
    const missing = entries.filter((each) => each.hooks.some(({ command }) => !commands.has(command)))
    if (missing.length === 0) continue
    hooks[event] = [...present, ...missing]
    added = true
  }
  return added ? { ...settings, hooks } : undefined
}

/** @throws ErrandError INVALID_INPUT for a file of another format, which must not be overwritten. */
function readSettings(text: string, file: string): AgentSettings {
  try {
    return settingsSchema.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof z.ZodError ? (error.issues[0]?.message ?? 'it has another shape') : String(error)
    throw new ErrandError(
      'INVALID_INPUT',
      `Cannot add hooks to ${file}: ${why}. Add the output of "errand hook install" to it by hand.`,
      { file },
      error,
    )
  }
}
