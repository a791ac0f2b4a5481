// The four tools of a stand-alone task board, under the names and in the shapes that agent loops put into their dispatch maps.
// Each answers with text, errors too: a loop goes on whatever a tool says.
import { z } from 'zod'
import type { Bus } from '../bus/bus.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { parse } from '../core/parse.ts'
import { type BoardRef, type BoardTask, boardRefSchema, boardStatuses } from '../entities/board.ts'
import { type CreationBounds, creationBoundsSchema } from '../entities/creation-bounds.ts'
import { fieldsFor } from '../entities/task-fields.ts'
import { createBoardSession } from './board-session.ts'
import { taskText } from './task-json.ts'

/** Options of `boardTools`. */
export interface BoardToolsOptions {
  /** Name of the agent: owner of what it takes. Default: the id of the engine's instance, so that no two are the same. */
  as?: string
  /** Role of the agent. Default: none, so tasks that are for a role are not for it. */
  role?: string
  /** Which board. Default `main`: all tasks of the ledger. */
  board?: string
  /** How long the process may be gone before others may take what it holds, in milliseconds; null: for ever. Default 60,000. */
  leaseMs?: number | null
  /** How many tasks the model may create below the task whose parts the board holds. Default: `modelBounds`. */
  bounds?: Partial<CreationBounds>
  clock?: Clock
}

export type BoardToolName = 'task_create' | 'task_update' | 'task_list' | 'task_get'

/** The board for a loop of one's own. */
export interface BoardTools {
  /** JSON Schema of each tool's input. */
  schemas: Record<BoardToolName, Record<string, unknown>>
  /** Takes the input a model gave, resolves to text: JSON, a list, or `Error: …`. Never rejects. */
  handlers: Record<BoardToolName, (input?: unknown) => Promise<string>>
  /** The same as definitions for a model: name, description, input schema. */
  tools: Array<{ name: BoardToolName; description: string; input_schema: Record<string, unknown> }>
  /** Calls a tool by its name; an unknown one is answered with `Unknown tool: X`. */
  dispatch(name: string, input?: unknown): Promise<string>
  /** Ends the signs of life; what it holds stays its own until the lease is over. */
  close(): void
}

const optionsSchema = z.strictObject({
  as: z.string().trim().min(1).max(100).optional(),
  role: z.string().trim().min(1).max(100).optional(),
  board: z.string().trim().min(1).max(100).optional(),
  leaseMs: z.number().min(100).max(8.64e15).nullable().optional(),
  bounds: creationBoundsSchema.optional(),
  clock: z.custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function').optional(),
})

const reference = boardRefSchema.describe('Number of the task, or its id.')
const references = z.array(reference).max(10_000)

const { name: subject, description, priority } = fieldsFor('board')
const words = {
  description,
  activeForm: z.string().max(1_000).optional().describe('What is shown while it is done: "Writing tests".'),
  priority,
  metadata: z.record(z.string(), z.json()).optional(),
}
const edges = {
  addBlockedBy: references.optional().describe('Tasks that must be completed before it.'),
  addBlocks: references.optional().describe('Tasks that come after it.'),
}

const inputs = {
  task_create: z.strictObject({
    subject: subject.unwrap(),
    ...words,
    ...edges,
    owner: z.string().trim().max(100).optional().describe('Who shall do it; nobody else may then.'),
  }),
  task_update: z.strictObject({
    task_id: reference,
    status: z
      .enum(boardStatuses)
      .optional()
      .describe('in_progress takes the task for you; completed is its owner’s to say.'),
    subject,
    ...words,
    ...edges,
    removeBlockedBy: references.optional(),
    removeBlocks: references.optional(),
    owner: z.string().trim().max(100).optional().describe('Who shall do it; empty for anybody.'),
  }),
  task_list: z.strictObject({}),
  task_get: z.strictObject({ task_id: reference }),
} as const

const descriptions: Record<BoardToolName, string> = {
  task_create: 'Puts a task on the board, where it outlives this conversation and others see it.',
  task_update: 'Changes a task: its status, its words, or what it comes after. Says which tasks came free by it.',
  task_list: 'Lists all tasks, one a line: [ ] pending, [>] in progress, [x] completed.',
  task_get: 'Shows one task with all that is known of it.',
}

/** Other spellings that models and older boards use, by the one that is meant. */
const spellings: Record<string, string> = {
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
 * The board as four tools: `task_create`, `task_update`, `task_list`, `task_get`. Their tasks are those of the engine, so whatever
 * else works on its ledger sees them at once.
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

/** Whoever invokes the abilities of a board, in whose name is its own affair. */
export interface BoardLine {
  call(abilityId: string, input: unknown): Promise<unknown>
  close(): void
}

/** The four tools over such a line. */
export function toolsOver(line: BoardLine): BoardTools {
  const handlers = handlersOf(line)
  const schemas = Object.fromEntries(
    Object.entries(inputs).map(([name, schema]) => [name, schemaOf(schema)]),
  ) as BoardTools['schemas']
  const names = Object.keys(inputs) as BoardToolName[]
  return {
    schemas,
    handlers,
    tools: names.map((name) => ({ name, description: descriptions[name], input_schema: schemas[name] })),
    async dispatch(name, input) {
      return Object.hasOwn(handlers, name) ? handlers[name as BoardToolName](input) : `Unknown tool: ${String(name)}`
    },
    close: () => line.close(),
  }
}

function schemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

function handlersOf(line: BoardLine): BoardTools['handlers'] {
  const task = async (ability: string, input: unknown) => (await line.call(ability, input)) as Answer
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
        // Beside a status that begins or ends it, an empty owner is a blank in a form.
        const isBlank = owner === '' && patch.status !== undefined && patch.status !== 'pending'
        return taskText(await task('board:update', { id, ...patch, owner: isBlank ? undefined : owner }))
      }),
    task_list: (input) =>
      answering(async () => {
        read('task_list', input)
        return ((await line.call('board:list', { limit: 10_000 })) as { text: string }).text
      }),
    task_get: (input) =>
      answering(async () => taskText(await task('board:get', { id: read('task_get', input).task_id }))),
  }
}

interface Answer {
  task: BoardTask
  unblocked?: Array<{ id: number }>
}

/** What went wrong is an answer like any other: the model reads it and goes on. */
async function answering(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    return `Error: ${ErrandError.isInstance(error) || error instanceof Error ? error.message : String(error)}`
  }
}

function read<K extends BoardToolName>(name: K, input: unknown): z.output<(typeof inputs)[K]> {
  return parse<z.output<(typeof inputs)[K]>>(inputs[name] as never, spelled(input), name)
}

/** The input under the names that are meant; a list that was given as JSON text is read. */
function spelled(input: unknown): unknown {
  if (input === undefined || input === null) return {}
  if (typeof input !== 'object' || Array.isArray(input)) return input
  const known = Object.entries(input).map(([key, value]) => {
    const name =
      Object.hasOwn(spellings, key) && !Object.hasOwn(input, spellings[key] as string)
        ? (spellings[key] as string)
        : key
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

/** Said first, and in the words that loops expect. */
export function requireStatus(input: unknown): void {
  const status = (input as { status?: unknown } | null | undefined)?.status
  if (status === undefined || (boardStatuses as readonly unknown[]).includes(status)) return
  throw new ErrandError(
    'INVALID_INPUT',
    `Invalid status: ${(typeof status === 'string' ? status : (JSON.stringify(status) ?? typeof status)).slice(0, 100)}`,
    { field: 'status', allowed: [...boardStatuses] },
  )
}
