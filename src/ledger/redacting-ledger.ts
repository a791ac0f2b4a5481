// A ledger whose steps store nothing that the `redact` hook has not seen. Every verb that writes what users and programs say is wrapped, so
// no step can pass the hook by; events that are published are those that were appended. The fields of a record are redacted in the record
// itself: what a step goes on with, and what it resolves to, is what is stored. Ids, keys, names of executors and the like are no content.
import type { StoredError } from '../core/errors.ts'
import { objectToStore, paramsToStore, type Redaction } from '../core/redact.ts'
import { writeSnapshot } from '../machines/task-snapshot.ts'
import type { Ledger, Reads, Tx } from './ledger.ts'
import type { Records, TableName } from './schema.ts'
import { definitionFields, stateFields } from './tables/task-row.ts'

/** What becomes of a value that is neither null nor undefined. */
type How = (redaction: Redaction, value: unknown, path: string[]) => unknown

const text: How = (redaction, value, path) => redaction.text(value as string, ...path)
const json: How = (redaction, value, path) => redaction.value(value, ...path)
const object: How = (redaction, value, path) => objectToStore(redaction, value as object, ...path)
const error: How = (redaction, value, path) => redaction.storedError(value as StoredError, ...path)
/** It holds nothing that users and programs say: ids, states, times, names that are looked up. */
const none: How = (_redaction, value) => value

function noneOf<const F extends string>(...fields: F[]): { readonly [Field in F]: How } {
  return Object.fromEntries(fields.map((field) => [field, none])) as { readonly [Field in F]: How }
}

/** An object of ours: these keys hold content, its other keys stay. */
function inside(fields: Readonly<Record<string, How>>): How {
  return (redaction, value, path) => {
    const given = value as Readonly<Record<string, unknown>>
    const changed = { ...given }
    for (const [field, how] of Object.entries(fields)) {
      const inner = given[field]
      if (inner !== null && inner !== undefined) changed[field] = how(redaction, inner, [...path, field])
    }
    return Object.keys(fields).some((field) => changed[field] !== given[field]) ? changed : given
  }
}

function each(how: How): How {
  return (redaction, list, path) => {
    const values = list as readonly unknown[]
    const changed = values.map((value) => how(redaction, value, path))
    return changed.some((value, index) => value !== values[index]) ? changed : values
  }
}

/** What of a call's details the engine itself notes: how its processes are found again, and who answered a question. */
const enginesDetails: ReadonlySet<string> = new Set(['processGroup', 'answeredBy'])

const details: How = (redaction, value, path) => {
  const changed = redaction.value(value, ...path)
  const kept = Object.entries(value as object).filter(([key]) => enginesDetails.has(key))
  if (changed === value || kept.length === 0) return changed
  const others = typeof changed === 'object' && changed !== null ? changed : { redacted: changed }
  return { ...others, ...Object.fromEntries(kept) }
}

/** How every field of every record is redacted. A new field does not compile before it stands here. */
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
    ...noneOf('seq', 'id', 'key', 'executor', 'parentId', 'status', 'ready', 'claimable', 'held', 'group', 'lane'),
    ...noneOf(
      'depth',
      'childCount',
      'madeBelow',
      'owner',
      'fence',
      'leaseMs',
      'leaseUntil',
      'attempt',
      'run',
      'runOpen',
    ),
    ...noneOf('openBlockers', 'stuckBy', 'wakes', 'crashes', 'priority', 'notBefore', 'deadline', 'role', 'tags'),
    ...noneOf('version', 'createdAt', 'updatedAt', 'completedAt', 'deletedAt', 'createdBy', 'mayRunCommands'),
    // It holds the name, and is written anew when that changes.
    snapshot: none,
  },
  dependency: noneOf('taskId', 'blockerId', 'kind', 'callId', 'satisfiedAt', 'createdAt'),
  run: {
    error,
    ...noneOf(
      'taskId',
      'number',
      'attempt',
      'instanceId',
      'status',
      'outcome',
      'startedAt',
      'endedAt',
      'closedAt',
      'dueAt',
    ),
  },
  call: {
    // Redacted by its kind.
    params: none,
    result: json,
    error,
    details,
    // Of keys, and of params that are redacted already.
    ident: none,
    ...noneOf('seq', 'id', 'taskId', 'run', 'attempt', 'kind', 'name', 'ordinal', 'status', 'onInterrupt', 'parentId'),
    ...noneOf('startMessageId', 'endMessageId', 'dueAt', 'createdAt', 'updatedAt'),
  },
  message: {
    content: text,
    // What a model gives a call, and not the names by which that is found.
    step: inside({ calls: each(inside({ arguments: text })) }),
    ...noneOf('id', 'taskId', 'n', 'role', 'announcement', 'delivery', 'run', 'ident', 'ordinal', 'timestamp'),
  },
  // Its data are redacted by their keys.
  event: noneOf('seq', 'type', 'taskId', 'at', 'instanceId', 'data'),
  instance: noneOf('id', 'pid', 'host', 'startedAt', 'leaseUntil', 'endedAt'),
  board: noneOf('name', 'parentId', 'nextNumber', 'seenSeq', 'createdAt'),
  board_task: {
    fields: inside({ activeForm: text, extra: object, file: inside({ differs: object }) }),
    ...noneOf('board', 'number', 'taskId'),
  },
  board_file: { text, ...noneOf('dir', 'number', 'version') },
  mail: {
    topic: text,
    body: text,
    ...noneOf('seq', 'id', 'board', 'sender', 'recipient', 'kind', 'requestId', 'verdict', 'createdAt', 'readAt'),
  },
  branch: {
    description: text,
    ...noneOf('seq', 'name', 'parent', 'status', 'taskId', 'agentId', 'createdAt', 'updatedAt'),
  },
  observation: {
    content: text,
    outcome: text,
    ...noneOf(
      'seq',
      'id',
      'sessionId',
      'branch',
      'type',
      'taskId',
      'agentId',
      'statedBy',
      'createdAt',
      'consolidatedBy',
    ),
  },
  fact: {
    text,
    ...noneOf('seq', 'id', 'branch', 'category', 'confidence', 'statedBy', 'sessionId', 'taskId', 'agentId', 'status'),
    ...noneOf('observationId', 'originId', 'successorId', 'disputed', 'verdict', 'comparedBy', 'mergedTo'),
    ...noneOf('mergedConfidence', 'createdAt', 'updatedAt'),
  },
  consolidation: {
    summary: text,
    ...noneOf('seq', 'id', 'type', 'sourceBranch', 'targetBranch', 'sessionId', 'agentId', 'taskId', 'trigger'),
    ...noneOf('observationsProcessed', 'factsCreated', 'factsUpdated', 'factsDeduplicated', 'durable', 'ephemeral'),
    ...noneOf('merged', 'rejected', 'at'),
  },
  decision: {
    // Words of the engine, which it reads again.
    note: none,
    ...noneOf('seq', 'consolidationId', 'kind', 'factId', 'otherId', 'observationId', 'similarity', 'before', 'after'),
  },
  team: {
    summary: text,
    ...noneOf('taskId', 'type', 'branch', 'parentBranch', 'durableThreshold', 'durableCategories', 'checkpointId'),
    ...noneOf('mergeId', 'closedAt', 'createdAt'),
  },
  objective: { description: text, notes: text, ...noneOf('taskId', 'number', 'status', 'agentId', 'updatedAt') },
  stint: {
    summary: text,
    ...noneOf(
      'taskId',
      'agentId',
      'number',
      'role',
      'branch',
      'status',
      'objectives',
      'workerId',
      'joinedAt',
      'leftAt',
    ),
  },
} satisfies { readonly [T in TableName]: { readonly [Field in keyof Records[T]]: How } }

/** Fields whose values are shown to the hook, as it is told where they lie: `task.input`. */
export const contentFields: readonly string[] = Object.entries(contentOfTables).flatMap(([table, fields]) =>
  Object.entries<How>(fields).flatMap(([field, how]) => (how === none ? [] : [`${table}.${field}`])),
)

/** What an event tells that is no content: states, names that are looked up, and numbers. Ids end like it. What is new is content. */
const structural: ReadonlySet<string> = new Set(
  'status ready team from to attempt run willRetry executor changed removed by kind call tool entries waits role n branch stint owner type requestedBy answeredBy'.split(
    ' ',
  ),
)
const isStructural = (key: string): boolean => structural.has(key) || /Ids?$/.test(key)

/** What a task waits for is a word of the engine; why it failed or was canceled, somebody has said. */
const isEnginesReason = ({ status }: { readonly status?: unknown }): boolean => status === 'waiting'

/** The verbs of a transaction that write: those that a read does not have. */
type Writes = {
  readonly [N in keyof Tx]: Omit<Tx[N], N extends keyof Reads ? keyof Reads[N] : never>
}

export function redactingLedger(inner: Ledger, redaction: Redaction): Ledger {
  const redacting = new WeakMap<Tx, Tx>()
  const wrapped = (tx: Tx): Tx => {
    const known = redacting.get(tx) ?? redactingTx(tx, redaction)
    redacting.set(tx, known)
    return known
  }
  return {
    name: inner.name,
    step: ({ name, decide }) => inner.step({ name, decide: (tx) => decide(wrapped(tx)) }),
    read: (query, reader) => inner.read(query, reader),
    register: (instanceId) => inner.register(instanceId),
    isAlive: (instanceId) => inner.isAlive(instanceId),
    unregister: (instanceId, options) => inner.unregister(instanceId, options),
    observe: (observer, options) => inner.observe(observer, options),
    close: (options) => inner.close(options),
  }
}

/** A part of a transaction with other verbs in place of some. A verb is called on its own part, whatever a ledger makes its parts of. */
function partOf<P extends object>(own: P, instead: object = {}): P {
  return new Proxy(own, {
    get(target, name) {
      const verb: unknown = Reflect.get(name in instead ? instead : target, name)
      return typeof verb === 'function' ? verb.bind(target) : verb
    },
  })
}

function redactingTx(given: Tx, redaction: Redaction): Tx {
  const tx = new Proxy(given, { get: (target, part) => partOf(Reflect.get(target, part) as object) })
  /** Redacts the content of a record in place: all fields, or those that a verb writes. */
  const clean = <R extends object>(table: TableName, record: R, written?: object): R => {
    const fields = record as Record<string, unknown>
    for (const [field, how] of Object.entries<How>(contentOfTables[table])) {
      const value = fields[field]
      if (value === null || value === undefined || (written !== undefined && !(field in written))) continue
      if (field === 'statusReason' && isEnginesReason(fields)) continue
      const changed = how(redaction, value, [table, field])
      if (changed !== value) fields[field] = changed
    }
    return record
  }
  const verb =
    <A extends object, R>(table: TableName, write: (record: A) => R) =>
    (record: A): R =>
      write(clean(table, record))
  const taskVerb =
    <T extends Parameters<Tx['task']['insert']>[0], R>(write: (task: T) => R, written?: object) =>
    (task: T): R => {
      const { name } = task
      clean('task', task, written)
      if (task.name !== name) task.snapshot = writeSnapshot(task)
      return write(task)
    }

  // Each verb that writes stands here, those that write no content too: a new one does not compile before it does.
  const writes: Writes = {
    task: {
      insert: taskVerb(tx.task.insert),
      // The snapshot holds the name.
      save: taskVerb(tx.task.save, { ...stateFields, name: true }),
      saveDefinition: taskVerb(tx.task.saveDefinition, definitionFields),
      saveProgress: taskVerb(tx.task.saveProgress, { progress: true }),
      setStuck: tx.task.setStuck,
      addChildren: tx.task.addChildren,
      addMade: tx.task.addMade,
      setLanes: tx.task.setLanes,
      raise: tx.task.raise,
    },
    dependency: {
      insert: tx.dependency.insert,
      satisfy: tx.dependency.satisfy,
      reopenWaits: tx.dependency.reopenWaits,
      satisfyWaits: tx.dependency.satisfyWaits,
      remove: tx.dependency.remove,
    },
    run: { insert: verb('run', tx.run.insert), save: verb('run', tx.run.save) },
    call: {
      insert(call) {
        call.params = paramsToStore(redaction, call.kind, call.params)
        return tx.call.insert(clean('call', call))
      },
      save: verb('call', tx.call.save),
    },
    message: { append: verb('message', tx.message.append) },
    event: {
      append(event) {
        for (const [key, value] of Object.entries(event.data)) {
          if (value === null || value === undefined || isStructural(key)) continue
          if (key === 'reason' && isEnginesReason(event.data)) continue
          const isError = key === 'error' && typeof (value as { message?: unknown }).message === 'string'
          const how = isError ? error : typeof value === 'string' ? text : json
          event.data[key] = how(redaction, value, ['event', key])
        }
        return tx.event.append(event)
      },
    },
    instance: {
      insert: tx.instance.insert,
      renew: tx.instance.renew,
      end: tx.instance.end,
      forget: tx.instance.forget,
    },
    setting: { put: tx.setting.put },
    board: {
      save: tx.board.save,
      insert: verb('board_task', tx.board.insert),
      saveFields(board, number, fields) {
        Object.assign(fields, clean('board_task', { fields }).fields)
        return tx.board.saveFields(board, number, fields)
      },
    },
    mail: {
      insert: verb('mail', tx.mail.insert),
      markRead: tx.mail.markRead,
      decide: tx.mail.decide,
      forget: tx.mail.forget,
    },
    mirror: {
      hold: tx.mirror.hold,
      release: tx.mirror.release,
      keep: verb('board_file', tx.mirror.keep),
      forget: tx.mirror.forget,
    },
    branch: { insert: verb('branch', tx.branch.insert), save: verb('branch', tx.branch.save) },
    observation: { insert: verb('observation', tx.observation.insert), consume: tx.observation.consume },
    fact: {
      insert: verb('fact', tx.fact.insert),
      save: verb('fact', tx.fact.save),
      // Made of the text of a stored fact.
      keepVector: tx.fact.keepVector,
    },
    consolidation: {
      insert: verb('consolidation', tx.consolidation.insert),
      decide: verb('decision', tx.consolidation.decide),
    },
    team: {
      insert: verb('team', tx.team.insert),
      save: verb('team', tx.team.save),
      insertObjective: verb('objective', tx.team.insertObjective),
      saveObjective: verb('objective', tx.team.saveObjective),
      insertStint: verb('stint', tx.team.insertStint),
      saveStint: verb('stint', tx.team.saveStint),
    },
    cascade: {
      cancel: ({ reason, ...order }) =>
        tx.cascade.cancel({
          ...order,
          reason: reason === null ? null : redaction.text(reason, 'task', 'statusReason'),
        }),
      hide: tx.cascade.hide,
      openEntries: tx.cascade.openEntries,
      edgesOut: tx.cascade.edgesOut,
      purge: tx.cascade.purge,
    },
  }
  const parts = Object.entries(writes).map(([part, verbs]) => [part, partOf(given[part as keyof Tx], verbs)])
  return Object.fromEntries(parts) as unknown as Tx
}
