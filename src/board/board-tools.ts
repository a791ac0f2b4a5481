// A task board as four tools for agent loops, under the usual names and input shapes. Every tool returns text, also for errors, so
// that a loop can continue.

import { z } from 'zod'
import type { Bus } from '../bus/bus.ts'
import type { JsonSchema } from '../bus/json-schema.ts'
import { modelSchema } from '../bus/model-schema.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Duration } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { anyJsonObject, parse } from '../core/parse.ts'
import { startOf } from '../core/storable-text.ts'
import { type BoardRef, type BoardTask, boardRefSchema, boardStatuses } from '../entities/board.ts'
import { type CreationBounds, creationBoundsSchema } from '../entities/creation-bounds.ts'
import { fieldsFor } from '../entities/task-fields.ts'
import { createBoardSession } from './board-session.ts'
import { taskText } from './task-json.ts'

/** Options of `boardTools`. */
export interface BoardToolsOptions {
  /** Name of the agent, and owner of what it claims. Default: the id of the engine's instance, which is unique. */
  as?: string
  /** Role of the agent. Default: none, so tasks for a role cannot be claimed. */
  role?: string
  /** Which board. Default `main`: all tasks of the ledger. */
  board?: string
  /** How long the process may be silent before others may take its tasks, in milliseconds; null: forever. Default 60,000. */
  leaseMs?: Duration | null
  /** How many tasks the model may create below the task to which the board belongs. Default: `modelBounds`. */
  bounds?: Partial<CreationBounds>
  clock?: Clock
}

export type BoardToolName = 'task_create' | 'task_update' | 'task_list' | 'task_get'

/** The board for an agent loop. */
export interface BoardTools {
  /** JSON Schema of each tool's input. */
  schemas: Record<BoardToolName, Record<string, unknown>>
  /** Each takes the model's input and resolves to text: JSON, a list, or `Error: …`. They never reject. */
  handlers: Record<BoardToolName, (input?: unknown) => Promise<string>>
  /** The same as tool definitions for a model: name, description, input schema. */
  tools: Array<{ name: BoardToolName; description: string; input_schema: Record<string, unknown> }>
  /** Calls a tool by name; an unknown name resolves to `Unknown tool: X`. */
  dispatch(name: string, input?: unknown): Promise<string>
  /** Ends the heartbeats. Claims stay valid until their leases end. */
  close(): void
}

const optionsSchema = once(() =>
  z.strictObject({
    as: z.string().trim().min(1).max(100).optional(),
    role: z.string().trim().min(1).max(100).optional(),
    board: z.string().trim().min(1).max(100).optional(),
    leaseMs: durationSchema({ min: 100 }).nullable().optional(),
    bounds: creationBoundsSchema.optional(),
    clock: z.custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function').optional(),
  }),
)

const inputs = once(() => {
  const reference = boardRefSchema.describe('Number of the task, or its id.')
  const references = z.array(reference).max(10_000)

  const { name: subject, description, priority } = fieldsFor('board')
  const textFields = {
    description,
    activeForm: z
      .string()
      .max(1_000)
      .optional()
      .describe('What is shown while the task is in progress: "Writing tests".'),
    priority,
    metadata: anyJsonObject().optional(),
  }
  const edges = {
    addBlockedBy: references.optional().describe('Tasks that must be completed before this one.'),
    addBlocks: references.optional().describe('Tasks that must wait for this one.'),
  }

  return {
    task_create: z.strictObject({
      subject: subject.unwrap(),
      ...textFields,
      ...edges,
      owner: z.string().trim().max(100).optional().describe('Who is to do it; others may not claim it then.'),
    }),
    task_update: z.strictObject({
      task_id: reference,
      status: z
        .enum(boardStatuses)
        .optional()
        .describe('in_progress claims the task for you; only its owner sets completed.'),
      subject,
      ...textFields,
      ...edges,
      removeBlockedBy: references.optional(),
      removeBlocks: references.optional(),
      owner: z.string().trim().max(100).optional().describe('Who is to do it; empty for anyone.'),
    }),
    task_list: z.strictObject({}),
    task_get: z.strictObject({ task_id: reference }),
  } as const
})

const descriptions: Record<BoardToolName, string> = {
  task_create: 'Creates a task on the board, where it outlives this conversation and others see it.',
  task_update: 'Changes a task: its status, its texts, or its blockers. Returns which tasks this unblocked.',
  task_list: 'Lists all tasks, one per line: [ ] pending, [>] in progress, [x] completed.',
  task_get: 'Shows one task with all its fields.',
}

/** Accepted aliases, each with the canonical name of its field. */
const aliases: Record<string, string> = {
  taskId: 'task_id',
  id: 'task_id',
  add_blocked_by: 'addBlockedBy',
  blockedBy: 'addBlockedBy',
  blocked_by: 'addBlockedBy',
  add_blocks: 'addBlocks',
  blocks: 'addBlocks',
  remove_blocked_by: 'removeBlockedBy',
  remove_blocks: 'removeBlocks',
  active_form: 'activeForm',
}
const lists = new Set(['addBlockedBy', 'addBlocks', 'removeBlockedBy', 'removeBlocks'])

/**
 * The board as four tools: `task_create`, `task_update`, `task_list`, `task_get`. They work on the tasks of the engine, so every other
 * client of its ledger sees their changes.
 *
 * @example
 * const { tools, dispatch } = boardTools(engine, { as: 'alice' })
 * const answer = await dispatch('task_create', { subject: 'Write tests', addBlockedBy: [2] })
 *
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION for bad options.
 */
export function boardTools(engine: { bus: Bus; instanceId: string }, options: BoardToolsOptions = {}): BoardTools {
  const { as, role, board, leaseMs, bounds, clock } = parse(optionsSchema, options, 'boardTools')
  const session = createBoardSession({
    bus: engine.bus,
    as: as ?? engine.instanceId,
    role,
    board,
    leaseMs,
    surface: 'tools',
    clock: clock ?? systemClock,
  })
  const caller = { surface: 'tools', ...(bounds === undefined ? {} : { bounds }) }
  return toolsOver({ call: (abilityId, input) => session.call(abilityId, input, { caller }), close: session.close })
}

/** How the tools invoke the abilities of a board; it also determines the caller. */
export interface BoardClient {
  call(abilityId: string, input: unknown): Promise<unknown>
  close(): void
}

/** The four tools over such a client. */
export function toolsOver(client: BoardClient): BoardTools {
  const handlers = handlersOf(client)
  const schemas = Object.fromEntries(
    Object.entries(inputs()).map(([name, schema]) => [name, schemaOf(schema)]),
  ) as BoardTools['schemas']
  const names = Object.keys(inputs()) as BoardToolName[]
  return {
    schemas,
    handlers,
    tools: names.map((name) => ({ name, description: descriptions[name], input_schema: schemas[name] })),
    async dispatch(name, input) {
      return Object.hasOwn(handlers, name) ? handlers[name as BoardToolName](input) : `Unknown tool: ${String(name)}`
    },
    close: () => client.close(),
  }
}

function schemaOf(schema: z.ZodType): Record<string, unknown> {
  return modelSchema(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema)
}

function handlersOf(client: BoardClient): BoardTools['handlers'] {
  const task = async (ability: string, input: unknown) => (await client.call(ability, input)) as Answer
  return {
    task_create: (input) =>
      answering(async () => {
        const { addBlockedBy, addBlocks, ...given } = read('task_create', input)
        return taskText(await task('board:create', { ...given, blockedBy: addBlockedBy, blocks: addBlocks }))
      }),
    task_update: (input) =>
      answering(async () => {
        requireStatus(input)
        const { task_id: id, owner, ...patch } = read('task_update', input)
        // With a status that begins or ends the task, models leave `owner` empty in the sense of "not given".
        const isBlank = owner === '' && patch.status !== undefined && patch.status !== 'pending'
        return taskText(await task('board:update', { id, ...patch, owner: isBlank ? undefined : owner }))
      }),
    task_list: (input) =>
      answering(async () => {
        read('task_list', input)
        return ((await client.call('board:list', { limit: 10_000 })) as { text: string }).text
      }),
    task_get: (input) =>
      answering(async () => taskText(await task('board:get', { id: read('task_get', input).task_id }))),
  }
}

interface Answer {
  task: BoardTask
  unblocked?: Array<{ id: number }>
}

/** Turns an error into an answer, which the model can read. */
async function answering(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    return `Error: ${ErrandError.isInstance(error) || error instanceof Error ? error.message : String(error)}`
  }
}

function read<K extends BoardToolName>(name: K, input: unknown): z.output<ReturnType<typeof inputs>[K]> {
  return parse<z.output<ReturnType<typeof inputs>[K]>>(inputs()[name] as never, withCanonicalNames(input), name)
}

/** The input under canonical field names, with lists given as JSON text parsed. */
function withCanonicalNames(input: unknown): unknown {
  if (input === undefined || input === null) return {}
  if (typeof input !== 'object' || Array.isArray(input)) return input
  const known = Object.entries(input).map(([key, value]) => {
    const name =
      Object.hasOwn(aliases, key) && !Object.hasOwn(input, aliases[key] as string) ? (aliases[key] as string) : key
    return [name, lists.has(name) ? listIn(value) : value]
  })
  return Object.fromEntries(known)
}

function listIn(value: unknown): unknown {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (!text.startsWith('[')) return text === '' ? [] : text.split(',').map((each) => refIn(each.trim()))
  try {
    return JSON.parse(text)
  } catch {
    return value
  }
}

function refIn(text: string): BoardRef {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** Checked before the schema, with the message that agent loops expect. */
export function requireStatus(input: unknown): void {
  const status = (input as { status?: unknown } | null | undefined)?.status
  if (status === undefined || (boardStatuses as readonly unknown[]).includes(status)) return
  throw new ErrandError(
    'INVALID_INPUT',
    `Invalid status: ${startOf(typeof status === 'string' ? status : (JSON.stringify(status) ?? typeof status), 100)}`,
    { field: 'status', allowed: [...boardStatuses] },
  )
}
