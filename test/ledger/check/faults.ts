// Faults that are planted in the rich ledger, as statements that both databases execute without triggers and foreign keys.

export interface Fault {
  /** The rule that finds it. */
  rule: string
  /** What is wrong, as the end of a sentence that begins with "finds". */
  title: string
  plant: string | Record<'sqlite' | 'postgres', string>
  /** What the violation says. */
  says: RegExp
  /** PostgreSQL refuses such a row whatever is switched off. */
  onlySqlite?: boolean
}

const taskNamed = (name: string): string => `(select id from task where name = '${name}')`
const update = (name: string, set: string): string => `update task set ${set} where name = '${name}'`
const event = (name: string, status: string): string =>
  `insert into event (type, task_id, at, instance_id, data) select 'task.updated', id, 1, 'none', '{"status":"${status}"}' from task where name = '${name}'`
/** The first of the facts, in the order of their numbers, that meet a condition. */
const factSeq = (condition: string, order = 'asc'): string =>
  `(select seq from fact where ${condition} order by seq ${order} limit 1)`
const isIndexed = `status = 'active' and category <> 'summary'`

const ofStorage: Fault[] = [
  {
    rule: 'storage-damage',
    title: 'a value that a column may not hold',
    plant: update('held', `status = 'sleeping'`),
    says: /CHECK constraint failed in task/,
    onlySqlite: true,
  },
  {
    rule: 'storage-damage',
    title: 'a row that refers to a missing one',
    plant: `update run set task_id = 'task-none' where task_id = ${taskNamed('nested')}`,
    says: /row of run with rowid \d+ refers to a row of task that does not exist/,
    onlySqlite: true,
  },
  {
    rule: 'unreadable-row',
    title: 'an event whose data is not JSON',
    plant: `update event set data = '{"status":' where seq = (select max(seq) from event)`,
    says: /^The column data of the row of event with seq \d+ is not JSON\.$/,
  },
  {
    rule: 'unreadable-row',
    title: 'a task whose tags are not a list',
    plant: update('held', `tags = '{}'`),
    says: /^tags of the row of task with seq \d+ is not JSON of the right type\.$/,
  },
  {
    rule: 'unreadable-row',
    title: 'a setting that is not JSON',
    plant: `insert into setting (name, value) values ('broken', 'yes')`,
    says: /^The column value of the row of setting with name broken is not JSON\.$/,
  },
  {
    rule: 'assigned-numbers',
    title: 'mail with a number that was not assigned',
    plant: {
      sqlite: `update sqlite_sequence set seq = 1 where name = 'mail'`,
      postgres: `select setval('mail_seq_seq', 1)`,
    },
    says: /^It has a row with number 3, and the last number assigned is 1\.$/,
  },
]

const ofTasks: Fault[] = [
  {
    rule: 'task-readiness',
    title: 'a held task that is marked as ready',
    plant: update('held', 'ready = 1'),
    says: /^It is marked as ready and not claimable, and it is not free \(held\)\.$/,
  },
  {
    rule: 'task-readiness',
    title: 'a task that can be claimed and is not marked as claimable',
    plant: update('kept', 'claimable = 0'),
    says: /not claimable, and it can be claimed now/,
  },
  {
    rule: 'task-snapshot',
    title: 'a task whose snapshot is in another state',
    plant: update('held', `snapshot = replace(snapshot, 'submitted', 'paused')`),
    says: /its state is paused, that of the row is submitted/,
  },
  {
    rule: 'task-outcome',
    title: 'a failed task without an error',
    plant: update('broken', 'error = null'),
    says: /^It has failed, and has no error\.$/,
  },
  {
    rule: 'task-owner',
    title: 'a lease without an end',
    plant: update('by hand', 'lease_until = null'),
    says: /^ann works on it with a lease of 3600000 ms that has no end\.$/,
  },
  {
    rule: 'task-owner',
    title: 'a task with an executor and an owner',
    plant: update('lasts', `owner = 'ann'`),
    says: /^It belongs to ann, and its executor is lasts\.$/,
  },
  {
    rule: 'history-beginning',
    title: 'a task whose first events were deleted',
    plant: `delete from event where task_id = ${taskNamed('nested')} and type = 'task.created'`,
    says: /^Its first event is task\.started\.$/,
  },
  {
    rule: 'history-beginning',
    title: 'a task without any event',
    plant: `delete from event where task_id = ${taskNamed('kept')}`,
    says: /^It has no event\.$/,
  },
  {
    rule: 'last-event',
    title: 'a task whose status is not that of its last event',
    plant: event('lasts', 'paused'),
    says: /^It is working, and its last event \(\d+, task\.updated\) reports paused\.$/,
  },
  {
    rule: 'event-order',
    title: 'an event that reports a status which the one before does not allow',
    plant: event('nested', 'working'),
    says: /^Event \d+, task\.updated reports working, and the one before it reports completed\.$/,
  },
]

const runOf = (name: string): string => `task_id = ${taskNamed(name)}`
const ofRuns: Fault[] = [
  {
    rule: 'run-numbers',
    title: 'a task that counts more runs than it has',
    plant: update('nested', 'run = 2'),
    says: /^Its row counts 2 runs, and recorded are 1, numbered from 1 to 1\.$/,
  },
  {
    rule: 'run-numbers',
    title: 'a task whose runs are missing',
    plant: `delete from run where ${runOf('nested')}`,
    says: /^Its row counts 1 run, and none is recorded\.$/,
  },
  {
    rule: 'run-attempt',
    title: 'a run of an attempt that has not begun',
    plant: `update run set attempt = 3 where ${runOf('flaky')} and number = 2`,
    says: /^Run 2 is of generation 1 and attempt 3, and the task is at generation 1 and attempt 2\.$/,
  },
  {
    rule: 'open-run',
    title: 'a task that says that a closed run is open',
    plant: update('nested', 'run_open = 1'),
    says: /^It says that run 1 is open, and no run of it is\.$/,
  },
  {
    rule: 'live-run',
    title: 'a live run of a completed task',
    plant: `update run set status = 'live', outcome = null, ended_at = null, closed_at = null where ${runOf('nested')}`,
    says: /^It is completed, and its run 1 is live\.$/,
  },
  {
    rule: 'live-run',
    title: 'a working task without a live run',
    plant: update('held', `status = 'working'`),
    says: /^It is working, and it has no live run\.$/,
  },
  {
    rule: 'run-holder',
    title: 'an open run of an engine that is not known',
    plant: 'delete from instance',
    says: /^Run 1 is open in the engine \S+, which the ledger does not know\.$/,
  },
]

const ofJournals: Fault[] = [
  {
    rule: 'journal-run',
    title: 'an entry of a run that the task has not had',
    plant: `update call set run = 7 where name = 'outer'`,
    says: /^The call is of run 7, generation 1 and attempt 1, and task-\S+ has had 1 run and 1 generation, of the last one 1 attempt\.$/,
  },
  {
    rule: 'open-entry',
    title: 'an open entry of a settled task',
    plant: `update call set status = 'pending' where name = 'outer'`,
    says: /^The call outer is pending, though task-\S+ is completed and has no open run\.$/,
  },
  {
    rule: 'open-entry',
    title: 'a call in progress without an open run',
    plant: `update call set status = 'in_progress', kind = 'call' where ${runOf('asks')}`,
    says: /is in_progress, though task-\S+ is input_required and has no open run/,
  },
  {
    rule: 'double-entry',
    title: 'two open entries for one request',
    plant: `insert into call (id, task_id, run, generation, attempt, kind, name, ident, ordinal, params, status, on_interrupt, details, result, created_at, updated_at)
      select 'call-again', task_id, run, generation, attempt, kind, name, ident, ordinal, params, status, on_interrupt, details, result, 1, 1
      from call where ${runOf('asks')}`,
    says: /^2 entries are open for the same request: ask ask, number 0 of its kind\.$/,
  },
  {
    rule: 'call-messages',
    title: 'a call that was announced by a missing message',
    plant: `update call set end_message_id = 'msg-none' where name = 'outer'`,
    says: /^The call outer names msg-none as the message about its end, and task-\S+ has no such message\.$/,
  },
  {
    rule: 'entry-parent',
    title: 'an entry inside a missing call',
    plant: `update call set parent_id = 'call-none' where name = 'inner'`,
    says: /^The call inner was made inside the call call-none, which is not in the journal/,
  },
  {
    rule: 'message-numbers',
    title: 'a conversation whose first message is missing',
    plant: `delete from message where ${runOf('agent')} and n = 1`,
    says: /^It has \d+ messages, numbered from 2 to \d+\.$/,
  },
  {
    rule: 'wait-edges',
    title: 'an edge of a wait that is over',
    plant: `update call set status = 'completed' where ${runOf('waits')}`,
    says: /^It waits for task-\S+, and its wait call-\S+ is not open in the journal\.$/,
  },
  {
    rule: 'wait-edges',
    title: 'a wait that no edge can end',
    plant: `delete from dependency where ${runOf('waits')}`,
    says: /^Its wait call-\S+ is open, and no edge says for which tasks\.$/,
  },
  {
    rule: 'signal-wait',
    title: 'a signal that an unknown wait took',
    plant: `update signal set taken_by = 'call-x' where ${runOf('paid')} and name = 'paid'`,
    says: /^The signal paid and the wait call-x do not name each other\.$/,
  },
  {
    rule: 'signal-wait',
    title: 'a wait that took no signal',
    plant: `delete from signal where ${runOf('paid')} and name = 'paid'`,
    says: /^The signal paid and the wait call-\S+ do not name each other\.$/,
  },
]

const edges = (name: string, satisfiedAt: string): string =>
  `update dependency set satisfied_at = ${satisfiedAt} where ${runOf(name)}`
const ofGraphs: Fault[] = [
  {
    rule: 'open-blockers',
    title: 'a task that counts too many open dependencies',
    plant: update('stuck', 'open_blockers = 2'),
    says: /^It counts 2 open dependencies, and it has 1\.$/,
  },
  {
    rule: 'ended-dependency',
    title: 'an open dependency on a completed task',
    plant: edges('sign', 'null'),
    says: /^It still comes after task-\S+, which is completed\.$/,
  },
  {
    rule: 'ended-dependency',
    title: 'an open dependency on a failed task that the policy ignores',
    plant: edges('ignores', 'null'),
    says: /^It still comes after task-\S+, which is failed, and its policy is not to be blocked by that\.$/,
  },
  {
    rule: 'early-dependency',
    title: 'a satisfied dependency on a task that has not ended',
    plant: edges('stuck too', '1'),
    says: /^Its dependency on task-\S+ is satisfied, and that task is submitted and has never ended\.$/,
  },
  {
    rule: 'dependency-cycle',
    title: 'tasks that come after each other in a circle',
    plant: `insert into dependency (task_id, blocker_id, kind, call_id, position, created_at)
      values (${taskNamed('sign')}, ${taskNamed('ship')}, 'after', '', 7, 1)`,
    says: /^It comes after itself through its open dependencies, in a circle with 1 other task\.$/,
  },
  {
    rule: 'stuck-task',
    title: 'a task that does not know that it is stuck',
    plant: update('stuck', 'stuck_by = null'),
    says: /^It comes after task-\S+, which will not complete, and it does not count as stuck\.$/,
  },
  {
    rule: 'stuck-task',
    title: 'a task that is stuck behind one that does not keep it',
    plant: update('held', `stuck_by = ${taskNamed('broken')}`),
    says: /^It counts as stuck behind task-\S+, which does not keep it from moving\.$/,
  },
]

const reopened = `status = 'submitted', completed_at = null`
const ofFamilies: Fault[] = [
  {
    rule: 'task-depth',
    title: 'a task on the wrong level',
    plant: update('sign', 'depth = 4'),
    says: /^Its depth is 4, and that of its parent task-\S+ is 0\.$/,
  },
  {
    rule: 'child-count',
    title: 'a parent that counts too few children',
    plant: update('release', 'child_count = 3'),
    says: /^It counts 3 children, and it has 4\.$/,
  },
  {
    rule: 'task-lane',
    title: 'a task outside of the lane of its parent',
    plant: update('ship', `lane = ''`),
    says: /^It is in no lane, and belongs in that of task-\S+\.$/,
  },
  {
    rule: 'below-canceled',
    title: 'an open task below a canceled one',
    plant: update('b', reopened),
    says: /^It is submitted, though task-\S+ above it is canceled\.$/,
  },
  {
    rule: 'group-end',
    title: 'an open group whose tasks have all ended',
    plant: update('ended', reopened),
    says: /^It is submitted, though all of its tasks \(1\) have ended\.$/,
  },
  {
    rule: 'purged-family',
    title: 'an open task in a family that is being purged',
    plant: update('old two', reopened),
    says: /^It is submitted, though the family of task-\S+ is being purged\.$/,
  },
]

const ofBoards: Fault[] = [
  {
    rule: 'board-numbers',
    title: 'a board that would assign a number twice',
    plant: `update board set next_number = 1 where name = 'side'`,
    says: /^Its next number is 1, and it has a task with the number 1\.$/,
  },
  {
    rule: 'board-tasks',
    title: 'a task without a number on the board',
    plant: `delete from board_task where ${runOf('kept')}`,
    says: /^It is task \d+ of the ledger and has no number on the board main, which has considered \d+\.$/,
  },
  {
    rule: 'mail-verdict',
    title: 'a request whose answer says something else',
    plant: `update mail set verdict = 'rejected' where kind = 'request'`,
    says: /^The verdict of the request is rejected, and its answer \S+ says approved\.$/,
  },
]

const ofMemory: Fault[] = [
  {
    rule: 'branch-tree',
    title: 'branches that form a circle',
    plant: `update branch set parent = 'task/fix-auth/ada' where name = 'task/fix-auth'`,
    says: /^It is below \S+, and not below main: the branches above it form a circle\.$/,
  },
  {
    rule: 'fact-successor',
    title: 'a superseded fact without a successor',
    plant: `update fact set successor_id = 'fact-none' where status = 'superseded'`,
    says: /^Its successor fact-none does not exist\.$/,
  },
  {
    rule: 'fact-successor',
    title: 'facts that supersede each other in a circle',
    plant: `update fact set status = 'superseded', successor_id = (select min(id) from fact as loser where loser.status = 'superseded')
      where id = (select min(successor_id) from fact as loser where loser.status = 'superseded')`,
    says: /^Its successor fact-\S+ leads back to it, so none of them holds\.$/,
  },
  {
    rule: 'memory-references',
    title: 'a fact from a missing observation',
    plant: `update fact set observation_id = 'obs-none' where seq = ${factSeq('observation_id is not null')}`,
    says: /^The observation of the fact is obs-none, which does not exist\.$/,
  },
  {
    rule: 'fact-origin',
    title: 'a fact that was copied from itself',
    plant: `update fact set origin_id = id where seq = ${factSeq('origin_id is not null')}`,
    says: /^It was copied from fact-\S+, which is not older\.$/,
  },
  {
    rule: 'consumed-observation',
    title: 'an observation that was consolidated into nothing',
    plant: `update decision set observation_id = null where seq = (select min(seq) from decision where observation_id is not null)`,
    says: /^It was consolidated by cons-\S+, which decided nothing about it\.$/,
  },
  {
    rule: 'fact-words',
    title: 'a fact without one of its words',
    plant: `delete from fact_word where fact = ${factSeq(isIndexed)} and word = 'refresh'`,
    says: /^It has 7 words, and the index leads to it by 6\.$/,
  },
  {
    rule: 'fact-words',
    title: 'a fact with another word than its own',
    plant: `update fact_word set word = 'another' where fact = ${factSeq(isIndexed)} and word = 'refresh'`,
    says: /^The words by which the index leads to it \(7\) are not those of its text on its branch\.$/,
  },
  {
    rule: 'fact-words',
    title: 'a word of a fact that is a summary',
    plant: `insert into fact_word (branch, word, size, fact) values (1, 'another', 1, ${factSeq(`category = 'summary'`)})`,
    says: /^The index leads to it by 1 word, and it is no active fact to be compared\.$/,
  },
  {
    rule: 'fact-text',
    title: 'a fact that no search finds',
    plant: {
      sqlite: `delete from fact_text where rowid = ${factSeq(isIndexed)}`,
      postgres: `delete from fact_text where fact = ${factSeq(isIndexed)}`,
    },
    says: /^Its entry in the text index is wrong: an active fact has one, and a summary has none\.$/,
  },
  {
    rule: 'fact-text',
    title: 'a missing fact that searches find',
    plant: {
      sqlite: `insert into fact_text (rowid, words) values (9999, 'nothing')`,
      postgres: `insert into fact_text (fact, branch, words) values (9999, 1, '{nothing}')`,
    },
    says: /^It is in the text index and does not exist\.$/,
  },
]

const ofTeams: Fault[] = [
  {
    rule: 'team-numbers',
    title: 'a team with a missing objective',
    plant: `delete from objective where ${runOf('Fix Auth')} and number = 1`,
    says: /^It has 1 objective, numbered from 2 to 2\.$/,
  },
  {
    rule: 'closed-team',
    title: 'an agent that is active in a closed team',
    plant: `update stint set status = 'active', left_at = null where agent_id = 'ada'`,
    says: /^Its team is closed, though it is completed and has 1 active agent\.$/,
  },
]

export const faults: readonly Fault[] = [
  ...ofStorage,
  ...ofTasks,
  ...ofRuns,
  ...ofJournals,
  ...ofGraphs,
  ...ofFamilies,
  ...ofBoards,
  ...ofMemory,
  ...ofTeams,
]
