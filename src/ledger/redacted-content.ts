// What of the stored records is content of users and programs, and so passes the `redact` hook: by record and field. Ids, keys, names of
// executors and the like are not content.
import type { StoredError } from '../core/errors.ts'
import { mapFields, objectToStore, type Redaction } from '../core/redact.ts'
import { type CallKind, drawnValues } from '../entities/call.ts'
import type { MachineEvent, MachineState } from '../entities/machine.ts'
import type { Records, TableName } from './schema.ts'

/** How a value that is neither null nor undefined is redacted. */
export type How = (redaction: Redaction, value: unknown, path: string[]) => unknown

export const text: How = (redaction, value, path) => redaction.text(value as string, ...path)
export const json: How = (redaction, value, path) => redaction.value(value, ...path)
const object: How = (redaction, value, path) => objectToStore(redaction, value as object, ...path)
export const error: How = (redaction, value, path) => redaction.storedError(value as StoredError, ...path)
/** The value is not content of users or programs: ids, states, times, names that are looked up. */
const none: How = (_redaction, value) => value

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S

/** Fields without content; their names are separated by spaces. */
function noneOf<const S extends string>(fields: S): { readonly [Field in Words<S>]: How } {
  return Object.fromEntries(fields.split(' ').map((field) => [field, none])) as { readonly [Field in Words<S>]: How }
}

/** An object of the engine: these keys hold content, its other keys stay. */
function inside(fields: Readonly<Record<string, How>>): How {
  return (redaction, value, path) =>
    mapFields(value as object, (inner, key) => {
      const how = Object.hasOwn(fields, key) ? fields[key] : undefined
      return how === undefined || inner === null || inner === undefined ? inner : how(redaction, inner, [...path, key])
    })
}

function each(how: How): How {
  return (redaction, list, path) =>
    mapFields(list as object, (value) => (value === null ? null : how(redaction, value, path)))
}

/** Redacts the texts in a JSON Schema one by one: a property named `password` holds no password, and nothing works without its schema. */
export const schema: How = (redaction, value, path) => {
  if (typeof value === 'string') return redaction.text(value, ...path)
  if (typeof value !== 'object' || value === null) return value
  return mapFields(value, (inner, key) => schema(redaction, inner, [...path, key]))
}

/** The details of a call: what a program notes, beside what the engine finds its processes by. */
const notes: How = (redaction, value, path) => {
  const changed = redaction.value(value, ...path)
  const { processGroup } = value as { processGroup?: unknown }
  if (changed === value || processGroup === undefined) return changed
  const others = typeof changed === 'object' && changed !== null ? changed : { redacted: changed }
  return { ...others, processGroup }
}

/** How the content of a journal entry is redacted. */
type ContentOfCall = { readonly params: How; readonly result: How; readonly details: How }

/** Ids, times and random numbers of the engine are not content. */
const contentOfCalls: Readonly<Record<CallKind, ContentOfCall>> = {
  call: { params: json, result: json, details: notes },
  ask: { params: inside({ question: text, schema, default: json }), result: json, details: none },
  wait: { params: none, result: each(inside({ result: json, error, statusReason: text })), details: none },
  sleep: { params: none, result: none, details: none },
  signal: { params: inside({ schema }), result: json, details: none },
  // The identities and ids of its entries.
  race: { params: none, result: none, details: none },
  // The drafts of its tasks, which are already redacted, and their ids.
  spawn: { params: none, result: none, details: none },
  // What a schema made of an input or an answer.
  value: { params: none, result: json, details: none },
  // `machineToStore`, where it is made, so that a machine goes on with what is stored.
  machine: { params: none, result: none, details: none },
}

/** By the kind of the entry. An unknown kind is refused by the ledger. */
export function contentOfCall({ kind, name }: { kind: CallKind; name?: string }): ContentOfCall {
  const isDrawn = kind === 'value' && (drawnValues as ReadonlyArray<string | undefined>).includes(name)
  return isDrawn ? { ...contentOfCalls.value, result: none } : (contentOfCalls[kind] ?? contentOfCalls.call)
}

/** The params of a journal entry as they are stored. */
export function paramsToStore(redaction: Redaction, kind: CallKind, params: unknown): unknown {
  if (!redaction.isOn || params === null || params === undefined) return params
  return contentOfCalls[kind].params(redaction, params, ['call', 'params'])
}

/** An event of a machine of a user. Its type is a name. */
const machineEvent: How = (redaction, value, path) => ({
  ...(redaction.value(value, ...path) as object),
  type: (value as MachineEvent).type,
})

const inMachine = inside({
  context: json,
  output: json,
  actors: each(inside({ input: json, last: json })),
  timers: each(inside({ event: machineEvent })),
  queue: each(inside({ event: machineEvent })),
  effects: each(inside({ event: machineEvent, params: json, context: json })),
})

/** The situation of a machine as it is stored, and as the machine goes on from it. */
export function machineToStore(redaction: Redaction, state: MachineState): MachineState {
  return redaction.isOn ? (inMachine(redaction, state, ['machine']) as MachineState) : state
}

/** How each field of each record is redacted. A new field that is missing here does not compile. */
export const contentOfTables = {
  task: {
    name: text,
    goal: text,
    description: text,
    input: json,
    metadata: object,
    result: json,
    error,
    statusReason: text,
    policy: inside({ systemPrompt: text }),
    progress: inside({ note: text }),
    ...noneOf('seq id key executor parentId status ready claimable held group lane depth childCount madeBelow'),
    ...noneOf(
      'owner fence leaseMs leaseUntil generation attempt run runOpen openBlockers stuckBy forkedFrom principal system wakes crashes priority',
    ),
    ...noneOf('notBefore deadline role tags version createdAt updatedAt startedAt completedAt deletedAt createdBy'),
    ...noneOf('mayRunCommands'),
    // It contains the name, and is written again when that changes.
    snapshot: none,
  },
  dependency: noneOf('taskId blockerId kind callId satisfiedAt createdAt'),
  run: {
    error,
    ...noneOf('taskId number generation attempt instanceId status outcome startedAt endedAt closedAt dueAt'),
  },
  call: {
    // By the kind of the entry: `contentOfCalls`.
    ...noneOf('params result details'),
    resultLost: text,
    error,
    // From keys, and from params that are already redacted.
    ident: none,
    ...noneOf('seq id taskId run generation attempt kind name ordinal status onInterrupt parentId'),
    ...noneOf('startMessageId endMessageId dueAt createdAt updatedAt'),
  },
  message: {
    content: text,
    // The arguments that a model gives a call, but not the names by which it is found.
    step: inside({
      calls: each(inside({ arguments: text })),
      parts: each(inside({ text, providerMetadata: json, title: text, url: text })),
    }),
    ...noneOf('id taskId n role announcement delivery run generation ident ordinal timestamp'),
  },
  signal: { payload: json, ...noneOf('seq taskId name sentId createdAt takenBy') },
  // Its data are redacted by their keys.
  event: noneOf('seq type taskId at instanceId data'),
  instance: noneOf('id pid host startedAt leaseUntil endedAt'),
  board: noneOf('name parentId nextNumber seenSeq createdAt'),
  board_task: {
    fields: inside({ activeForm: text, extra: object, file: inside({ differs: object }) }),
    ...noneOf('board number taskId'),
  },
  board_file: { text, ...noneOf('dir number version') },
  mail: {
    topic: text,
    body: text,
    ...noneOf('seq id board sender recipient kind requestId verdict createdAt readAt'),
  },
  branch: {
    description: text,
    ...noneOf('seq name parent status taskId agentId createdAt updatedAt'),
  },
  observation: {
    content: text,
    outcome: text,
    ...noneOf('seq id sessionId branch type taskId agentId statedBy createdAt consolidatedBy'),
  },
  fact: {
    text,
    ...noneOf('seq id branch category confidence statedBy sessionId taskId agentId status observationId'),
    ...noneOf('originId successorId disputed verdict comparedBy mergedTo mergedConfidence createdAt updatedAt'),
  },
  consolidation: {
    summary: text,
    ...noneOf('seq id type sourceBranch targetBranch sessionId agentId taskId trigger observationsProcessed'),
    ...noneOf('factsCreated factsUpdated factsDeduplicated durable ephemeral merged rejected at'),
  },
  decision: {
    // Texts of the engine, which it reads again.
    note: none,
    ...noneOf('seq consolidationId kind factId otherId observationId similarity before after'),
  },
  team: {
    summary: text,
    ...noneOf('taskId type branch parentBranch durableThreshold durableCategories checkpointId mergeId closedAt'),
    ...noneOf('createdAt'),
  },
  objective: { description: text, notes: text, ...noneOf('taskId number status agentId updatedAt') },
  stint: {
    summary: text,
    ...noneOf('taskId agentId number role branch status objectives workerId joinedAt leftAt'),
  },
  schedule: {
    last: inside({ error }),
    // Already redacted.
    drafts: none,
    ...noneOf('name cron everyMs timezone overlap catchUp jitterMs paused nextTick nextAt queuedTick taskId'),
    ...noneOf('createdAt updatedAt'),
  },
} satisfies { readonly [T in TableName]: { readonly [Field in keyof Records[T]]: How } }

/** The fields whose values the hook receives, as its paths name them: `task.input`. */
export const contentFields: readonly string[] = Object.entries({
  ...contentOfTables,
  call: { ...contentOfTables.call, ...contentOfCalls.call },
}).flatMap(([table, fields]) =>
  Object.entries<How>(fields).flatMap(([field, how]) => (how === none ? [] : [`${table}.${field}`])),
)
