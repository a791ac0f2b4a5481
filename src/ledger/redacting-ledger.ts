// A ledger whose steps store nothing that the `redact` hook has not seen. Every verb that writes content of users and programs is wrapped,
// so no step can bypass the hook; published events are the ones that were appended. The fields are redacted in the record itself, so that a
// step goes on with, and returns, what is stored.
import type { Redaction } from '../core/redact.ts'
import { writeSnapshot } from '../machines/task-snapshot.ts'
import { delegateLedger } from './delegate-ledger.ts'
import type { Ledger, Reads, Tx } from './ledger.ts'
import { contentOfCall, contentOfTables, error, type How, json, schema, text } from './redacted-content.ts'
import type { TableName } from './schema.ts'
import { definitionFields, stateFields } from './tables/task-columns.ts'

/**
 * The data of events that are not content: states, names that are looked up, and numbers. Keys of ids end in `Id`. Every new key is
 * content.
 */
const structural: ReadonlySet<string> = new Set(
  'status ready team from to attempt run willRetry executor changed removed by kind call tool entries waits role n branch stint owner type for requestedBy answeredBy signal'.split(
    ' ',
  ),
)
const isStructural = (key: string): boolean => structural.has(key) || /Ids?$/.test(key)

/** The reasons of a waiting task that the engine writes and reads again. Other reasons come from users. */
const enginesReasons: ReadonlySet<unknown> = new Set(['children', 'message', 'released', 'interrupted'])

/** The verbs of a transaction that write. */
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
  return delegateLedger(inner, { step: (step) => inner.step({ ...step, decide: (tx) => step.decide(wrapped(tx)) }) })
}

/**
 * A part of a transaction with some verbs replaced. Verbs are called on their own part, so that a ledger may make its parts of anything.
 */
function partOf<P extends object>(own: P, instead: object = {}): P {
  return new Proxy(own, {
    get(target, name) {
      const verb: unknown = Reflect.get(name in instead ? instead : target, name)
      return typeof verb === 'function' ? verb.bind(target) : verb
    },
  })
}

// oxlint-disable-next-line max-lines-per-function -- One list of all verbs of the ledger, complete by its type.
function redactingTx(given: Tx, redaction: Redaction): Tx {
  const tx = new Proxy(given, { get: (target, part) => partOf(Reflect.get(target, part) as object) })
  /** Redacts the content of a record in place: all fields, or those that a verb writes. */
  const clean = <R extends object>(table: TableName, record: R, written?: object): R =>
    redactFields(contentOfTables[table], record, table, written)
  const redactFields = <R extends object>(
    hows: Readonly<Record<string, How>>,
    record: R,
    table: TableName,
    written?: object,
  ): R => {
    const fields = record as Record<string, unknown>
    for (const [field, how] of Object.entries(hows)) {
      const value = fields[field]
      if (value === null || value === undefined || (written !== undefined && !(field in written))) continue
      if (field === 'statusReason' && enginesReasons.has(value)) continue
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

  const callVerb =
    <C extends Parameters<typeof contentOfCall>[0], R>(write: (call: C) => R) =>
    (call: C): R => {
      redactFields(contentOfCall(call), call, 'call')
      return write(clean('call', call))
    }

  // Lists each verb that writes, also those without content, so that a new one does not compile without it.
  const writes: Writes = {
    task: {
      insert: taskVerb(tx.task.insert),
      // The snapshot contains the name.
      save: taskVerb(tx.task.save, { ...stateFields, name: true }),
      saveDefinition: taskVerb(tx.task.saveDefinition, definitionFields),
      saveProgress: taskVerb(tx.task.saveProgress, { progress: true }),
      setStuck: tx.task.setStuck,
      addChildren: tx.task.addChildren,
      addMade: tx.task.addMade,
      setLanes: tx.task.setLanes,
      raise: tx.task.raise,
      freeKey: tx.task.freeKey,
    },
    dependency: {
      insert: tx.dependency.insert,
      satisfy: tx.dependency.satisfy,
      reopenWaits: tx.dependency.reopenWaits,
      satisfyWaits: tx.dependency.satisfyWaits,
      remove: tx.dependency.remove,
    },
    run: { insert: verb('run', tx.run.insert), save: verb('run', tx.run.save), saveSlot: tx.run.saveSlot },
    call: {
      insert: callVerb(tx.call.insert),
      save: callVerb(tx.call.save),
      end: callVerb(tx.call.end),
    },
    message: { append: verb('message', tx.message.append) },
    signal: { insert: verb('signal', tx.signal.insert), take: tx.signal.take },
    event: {
      append(event) {
        for (const [key, value] of Object.entries(event.data)) {
          if (value === null || value === undefined || isStructural(key)) continue
          if (key === 'reason' && enginesReasons.has(value)) continue
          const isError = key === 'error' && typeof (value as { message?: unknown }).message === 'string'
          const how = isError ? error : key === 'schema' ? schema : typeof value === 'string' ? text : json
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
      saveFields(board, taskId, fields) {
        Object.assign(fields, clean('board_task', { fields }).fields)
        return tx.board.saveFields(board, taskId, fields)
      },
    },
    mail: {
      insert: verb('mail', tx.mail.insert),
      markRead: tx.mail.markRead,
      markUnread: tx.mail.markUnread,
      decide: tx.mail.decide,
      forget: tx.mail.forget,
    },
    mirror: {
      hold: tx.mirror.hold,
      release: tx.mirror.release,
      keep: verb('board_file', tx.mirror.keep),
      forget: tx.mirror.forget,
    },
    schedule: { save: verb('schedule', tx.schedule.save), remove: tx.schedule.remove },
    branch: {
      insert: verb('branch', tx.branch.insert),
      save: verb('branch', tx.branch.save),
      saveStatus: tx.branch.saveStatus,
    },
    observation: { insert: verb('observation', tx.observation.insert), consume: tx.observation.consume },
    fact: {
      insert: verb('fact', tx.fact.insert),
      save: verb('fact', tx.fact.save),
      // Made from the text of a stored fact.
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
    },
    purge: { begin: tx.purge.begin, remove: tx.purge.remove },
  }
  const parts = Object.entries(writes).map(([part, verbs]) => [part, partOf(given[part as keyof Tx], verbs)])
  return Object.fromEntries(parts) as unknown as Tx
}
