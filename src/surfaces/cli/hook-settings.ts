// The settings of a coding agent that make it call our hooks: two entries, beside whatever else stands there.
import { z } from 'zod'
import { ErrandError } from '../../errors.ts'

const hookEntrySchema = z.looseObject({ hooks: z.array(z.looseObject({ command: z.string().optional() })) })
const settingsSchema = z.looseObject({ hooks: z.record(z.string(), z.array(hookEntrySchema)).optional() })

export type AgentSettings = z.output<typeof settingsSchema>

/** Seconds after which the agent gives up on a hook: longer than the hook itself takes. */
const patience = 10

/** The hooks, and nothing else. `command` is how errand is started. */
export function hookSettings(command: string): AgentSettings {
  const entry = (hook: string) => [
    { hooks: [{ type: 'command', command: `${command} hook ${hook}`, timeout: patience }] },
  ]
  return { hooks: { SessionStart: entry('session-start'), SessionEnd: entry('session-end') } }
}

/** The settings with the hooks beside those that are there. Undefined when there is nothing to add. */
export function withHooks(settings: AgentSettings, { hooks: wanted = {} }: AgentSettings): AgentSettings | undefined {
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
export function readSettings(text: string, file: string): AgentSettings {
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
