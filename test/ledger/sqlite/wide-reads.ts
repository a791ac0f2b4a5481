// The reads of the growing tables that may read more than a few rows, each with the reason why it is bounded or has to.

export interface WideRead {
  /** Lines of plans. */
  line: RegExp
  /** Which statements have them; absent: all. */
  of?: RegExp
  why: string
}

/** Partial indexes that hold only what waits for something, in the order in which it is wanted. */
const queues: Array<[indexes: string, why: string]> = [
  ['task_ready|task_ready_in_lanes|task_suspected', 'The heads of the ready tasks of one executor.'],
  [
    'task_claimable',
    'The first claimable tasks for a role and an owner, and pages of them where tags or a family are compared.',
  ],
  ['task_timer|task_lease|task_deadline|call_timer|run_timer', 'What is due first, or up to now and a limit.'],
  ['task_settled_root', 'The roots that settled first, up to a limit.'],
  ['task_in_lane', 'The open runs of a lane are as many as it allows.'],
  ['run_open|run_one_open', 'The open runs of engines are as many as their slots, and as they keep in memory.'],
  ['task_fork', 'The forks of one task, up to a limit, or the first that exists of each task that is compared.'],
  ['task_of_principal', 'The tasks of one principal, up to a limit.'],
  ['run_queued', 'The runs of an engine that have what they waited for in memory.'],
]

export const wideReads: readonly WideRead[] = [
  ...queues.map(([indexes, why]) => ({
    line: new RegExp(`^SEARCH .* USING (?:COVERING )?INDEX (?:${indexes}) \\(`),
    why,
  })),
  { line: /^SCAN run USING INDEX run_(?:one_)?open$/, why: 'The open runs of engines are as many as their slots.' },
  {
    line: /^SCAN task USING COVERING INDEX task_(?:ready|ready_system|claimable)$/,
    of: /count\(\*\)/,
    why: 'Counts the queue for the status.',
  },
  {
    line: /^SCAN task USING INDEX task_ready$/,
    of: /min\("updated_at"\)/,
    why: 'Counts the queue by executor for the metrics, when they are asked for.',
  },
  {
    line: /^SCAN task USING (?:COVERING )?INDEX (?:task_ready|task_ready_in_lanes|task_ready_system|task_suspected)$/,
    of: /^select (?:exists|1) .*limit 1/s,
    why: 'The first entry of the queue of ready tasks, and of each kind of them.',
  },
  { line: /^SCAN run USING COVERING INDEX run_queued$/, of: /^select exists /, why: 'The first of these runs.' },
  { line: /^SEARCH task .*\(id>\? AND id<\?\)/, of: /limit/, why: 'Ids that begin alike, up to a limit.' },
  {
    line: /^SEARCH task .*\(key>\? AND key<\?\)/,
    of: /limit|inside/,
    why: 'Keys that begin alike, up to a limit, or roots of trees by their keys.',
  },
  { line: /^SEARCH event .*\(rowid[<>]\?\)/, of: /limit/, why: 'A page of the feed.' },
  { line: /^SEARCH event .*\(rowid>\?\)/, of: /min\(seq\)/, why: 'The events that the current step has written.' },
  {
    line: /^SEARCH event .*\(rowid>\? AND rowid<\?\)/,
    why: 'The events of one cascade, or of a purge that looks at a thousand at a time.',
  },
  {
    line: /^SEARCH task .*\(rowid>\? AND rowid<\?\)/,
    of: /not indexed/,
    why: 'A list without a fitting index reads a part of the table at a time.',
  },
  {
    line: /^SEARCH task .*\(rowid>\? AND rowid<\?\)/,
    of: /as "event\.seq"/,
    why: 'Past states are read for a part of the table at a time.',
  },
  {
    line: /^SEARCH task .*\(rowid>\?\)/,
    of: /board_task/,
    why: 'The tasks since the last look at a board, up to a limit.',
  },
  {
    line: /^SEARCH task .*\bINDEX task_by_status \(status=\?/,
    of: / limit \+\?$/,
    why: 'Tasks of a state in the order of the index, up to a limit.',
  },
  { line: /^SEARCH board_task .*\(board=\? AND number=\?\)/, why: 'One entry of a board.' },
  {
    line: /^SEARCH board_task .*\bINDEX board_workspace \(board=\?/,
    why: 'A task bound to a workspace; bindings that have ended are removed.',
  },
  { line: /^SEARCH board_task .*\(board=\? AND number>\?\)/, of: /limit/, why: 'A page of a board.' },
  { line: /^SCAN task\b/, of: /where 1 = 0/, why: 'Reads nothing.' },
  {
    line: /^SEARCH event USING (?:COVERING )?INDEX event_counted \(at>\? AND at<\?\)/,
    why: 'Starts and ends of tasks in a time, from an index that has nothing else.',
  },
  {
    line: /^SCAN (?:instance|board_mirror)\b/,
    why: 'As many as there are engines, mirrors and ended engines not yet forgotten.',
  },
  { line: /^SCAN board\b/, why: 'The boards of a ledger are named by people.' },
  { line: /^SCAN mail$/, of: /^delete/, why: 'Read mail is forgotten once for each round of retention.' },
  { line: /^SCAN purging\b/, why: 'The families that are being removed are few, and nearly always none.' },
  { line: /^SCAN team\b/, why: 'Lists and reports of teams begin with the teams, which are few beside the tasks.' },
]

/** Sorts of the rows that a statement has found by an index. */
export const sorts: ReadonlyArray<{ of: RegExp; why: string }> = [
  {
    of: /where parent_id = \+\? and deleted_at is null order by priority desc/,
    why: 'At most a thousand children; more are sorted outside of SQLite.',
  },
  {
    of: /from task join below on below.id = task.id/,
    why: 'At most a thousand tasks below one; more are sorted outside of SQLite.',
  },
  { of: /\+claimable = 1/, why: 'The claimable tasks of a family of at most a thousand.' },
  {
    of: /run.status = 'queued' and .*order by/,
    why: 'The runs of an engine that have what they waited for in memory.',
  },
  { of: /^insert into event/, why: 'The events of a cascade are in the order of its tasks.' },
  { of: /as canceled cross join call/, why: 'The open calls of one cascade.' },
  { of: /group by 1, 2$/, why: 'A few types in a hundred parts of a time.' },
  { of: /group by status/, why: 'The states in a part of the table.' },
  { of: /inside\(?/, why: 'The ids in some trees are put together, and their ready tasks ordered.' },
  { of: /from "run" inner join "task".* group by "task"."executor"/, why: 'The open runs by executor.' },
  { of: /from "run" where "instance_id" = \+\?/, why: 'The open runs of one engine.' },
  { of: /union select instance_id as id from run/, why: 'The engines with open runs.' },
  { of: /from dependency as edge.*order by "task"."seq"/s, why: 'The dependents of one task of a board.' },
  { of: /as "event\.seq".*\(task\.id in \(select value from json_each/s, why: 'Past states of tasks that are named.' },
  { of: /^with recursive above .*\bfrom event where seq > /s, why: 'The tasks that a thousand events name.' },
  { of: /from stint left join task/, why: 'The active members of teams, who are few beside the tasks.' },
  { of: /from "?team"? /, why: 'The teams of a list or report.' },
]
