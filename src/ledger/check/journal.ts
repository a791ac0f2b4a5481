// Rules about the journal and the conversation of a task.
import { counted } from '../../core/counted.ts'
import { openCallStatuses } from '../../machines/call-machine.ts'
import { sql } from '../statement.ts'
import { type Check, statementCheck } from './rule.ts'

const isOpen = sql`call.status in (${sql.join(openCallStatuses.map((status) => sql.lit(status)))})`

const runOfEntry = statementCheck(
  {
    name: 'journal-run',
    explains:
      'Each entry of the journal was made by a run, a generation and an attempt that its task has had, or was saved from outside or copied for a fork by none, so that a later run finds what is its own.',
  },
  sql`select call.id as subject, call.task_id as task, call.kind, call.run, call.generation, call.attempt, task.run as latest,
      task.generation as "latestGeneration", task.attempt as "latestAttempt"
    from call join task on task.id = call.task_id
    where not (call.run = 0 and (call.attempt = 0 or task.forked_from is not null))
      and (call.run < 1 or call.run > task.run or call.generation < 1 or call.generation > task.generation
        or call.attempt < 1 or (call.attempt > task.attempt and call.generation = task.generation))`,
  ({ task, kind, run, generation, attempt, latest, latestGeneration, latestAttempt }) =>
    `The ${kind} is of run ${run}, generation ${generation} and attempt ${attempt}, and ${task} has had ${counted(Number(latest), 'run')} and ${counted(Number(latestGeneration), 'generation')}, of the last one ${counted(Number(latestAttempt), 'attempt')}.`,
  sql`violation.task`,
)

const openEntries = statementCheck(
  {
    name: 'open-entry',
    explains:
      'A settled task has no open entry in its journal except calls that its last run is still ending, and a call is in progress only while a run is open, because nothing else would ever end it.',
  },
  sql`select call.id as subject, call.task_id as task, call.kind, call.name, call.status, task.status as "taskStatus", task.run_open as "runOpen"
    from call join task on task.id = call.task_id
    where ${isOpen} and (
      (task.completed_at is not null and (task.run_open = 0 or call.kind <> 'call' or call.status = 'pending'))
      or (call.status = 'in_progress' and call.run > 0 and task.run_open = 0))`,
  ({ task, kind, name, status, taskStatus, runOpen }) =>
    `The ${kind} ${name} is ${status}, though ${task} is ${taskStatus} and has ${runOpen === 1 ? 'an' : 'no'} open run.`,
  sql`violation.task`,
)

const doubleEntries = statementCheck(
  {
    name: 'double-entry',
    explains:
      'At most one entry of a journal is open for one request, because a run that asks again continues with the entry that it finds.',
  },
  sql`select call.task_id as subject, call.kind, call.name, call.ordinal, count(*) as entries from call
    where ${isOpen}
    group by call.task_id, call.generation, call.kind, call.name, call.ident, call.ordinal having count(*) > 1`,
  ({ kind, name, ordinal, entries }) =>
    `${entries} entries are open for the same request: ${kind} ${name}, number ${ordinal} of its kind.`,
)

const lines = statementCheck(
  {
    name: 'call-messages',
    explains: 'The lines that announce a call are messages of its task, because both are written in one transaction.',
  },
  sql`select call.id as subject, call.task_id as task, call.name, line.id as line, line.place from call
    join (
      select id as call_id, start_message_id as id, 'beginning' as place from call where start_message_id is not null
      union all select id, end_message_id, 'end' from call where end_message_id is not null
    ) as line on line.call_id = call.id
    where not exists (select 1 from message where message.id = line.id and message.task_id = call.task_id)`,
  ({ task, name, line, place }) =>
    `The call ${name} names ${line} as the message about its ${place}, and ${task} has no such message.`,
  sql`violation.task`,
)

const containers = statementCheck(
  {
    name: 'entry-parent',
    explains:
      'An entry that was made inside a call names a call of the same task, because a repeated run looks for it there.',
  },
  sql`select call.id as subject, call.kind, call.name, call.parent_id as parent, call.task_id as task from call
    where call.parent_id is not null
      and not exists (select 1 from call as upper where upper.id = call.parent_id and upper.task_id = call.task_id)`,
  ({ kind, name, parent, task }) =>
    `The ${kind} ${name} was made inside the call ${parent}, which is not in the journal of ${task}.`,
  sql`violation.task`,
)

const messageNumbers = statementCheck(
  {
    name: 'message-numbers',
    explains:
      'The messages of a task are numbered from 1 without gaps, because messages are only added and never deleted.',
  },
  sql`select task_id as subject, count(*) as messages, min(n) as lowest, max(n) as highest from message
    group by task_id having min(n) <> 1 or max(n) <> count(*)`,
  ({ messages, lowest, highest }) =>
    `It has ${counted(Number(messages), 'message')}, numbered from ${lowest} to ${highest}.`,
)

const waits = statementCheck(
  {
    name: 'wait-edges',
    explains:
      'An open wait is recorded twice, as an entry of the journal and as edges to the tasks it waits for, because only an edge ends it when such a task does.',
  },
  sql`select edge.task_id as subject, edge.blocker_id as blocker, edge.call_id as entry from dependency as edge
      where edge.kind = 'wait' and edge.satisfied_at is null
        and not exists (select 1 from call where call.id = edge.call_id and call.task_id = edge.task_id
          and call.kind = 'wait' and call.status = 'pending')
    union all
    select call.task_id, null, call.id from call
      where call.kind = 'wait' and ${isOpen}
        and not exists (select 1 from dependency as edge where edge.kind = 'wait' and edge.call_id = call.id)`,
  ({ blocker, entry }) =>
    blocker === null
      ? `Its wait ${entry} is open, and no edge says for which tasks.`
      : `It waits for ${blocker}, and its wait ${entry} is not open in the journal.`,
)

const signals = statementCheck(
  {
    name: 'signal-wait',
    explains:
      'A signal that was taken names the wait, or the macrostep of a machine, of its task that took it, and a wait for a signal that has a result took one, unless its time was over, because each signal is taken once.',
  },
  sql`select signal.task_id as subject, signal.name, signal.taken_by as entry from signal
      where signal.taken_by is not null
        and not exists (select 1 from call where call.id = signal.taken_by and call.task_id = signal.task_id
          and call.kind = 'signal' and call.name = signal.name and call.status in ('completed', 'failed'))
        and not exists (select 1 from call where call.task_id = signal.task_id and call.kind = 'machine'
          and signal.taken_by like call.id || '/%')
    union all
    select call.task_id, call.name, call.id from call
      where call.kind = 'signal' and call.status = 'completed' and call.result <> 'null'
        and not exists (select 1 from signal where signal.taken_by = call.id)`,
  ({ name, entry }) => `The signal ${name} and the wait ${entry} do not name each other.`,
)

export const journalChecks: readonly Check[] = [
  runOfEntry,
  openEntries,
  doubleEntries,
  lines,
  containers,
  messageNumbers,
  waits,
  signals,
]
