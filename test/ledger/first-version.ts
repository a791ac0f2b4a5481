// The content of a ledger of version 1: a row of each kind, as statements that both databases accept. Never changed, because released ledgers
// contain such rows.
const names = [
  'id',
  'key',
  'name',
  'goal',
  'description',
  'status',
  'status_reason',
  'is_group',
  'ready',
  'held',
  'executor',
  'input',
  'result',
  'error',
  'priority',
  'parent_id',
  'owner',
  'attempt',
  'run',
  'run_open',
  'open_blockers',
  'wakes',
  'crashes',
  'not_before',
  'policy',
  'metadata',
  'progress',
  'snapshot',
  'version',
  'created_at',
  'updated_at',
  'completed_at',
  'deleted_at',
] as const // prettier-ignore

type Values = Partial<Record<(typeof names)[number], string | number | null>>

const literal = (value: string | number | null): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

function task(id: string, values: Values = {}): string {
  const status = String(values.status ?? 'submitted')
  const settled = ['completed', 'failed', 'canceled'].includes(status)
  const row: Values = {
    id,
    key: null,
    name: `the task ${id}`,
    goal: null,
    description: `it's "described"`,
    status,
    status_reason: null,
    is_group: 0,
    ready: 0,
    held: 0,
    executor: null,
    input: '{"deep":[1,null]}',
    result: status === 'completed' ? '{"count":3}' : 'null',
    error: status === 'failed' ? '{"code":"TASK_FAILED","message":"no"}' : null,
    priority: 2,
    parent_id: null,
    owner: null,
    attempt: 1,
    run: 0,
    run_open: 0,
    open_blockers: 0,
    wakes: 0,
    crashes: 0,
    not_before: null,
    policy: '{}',
    metadata: '{"by":"version 1"}',
    progress: null,
    snapshot: `{"version":1,"value":"${status}","context":{"taskId":"${id}","name":"the task ${id}","attempt":1,"run":${values.run ?? 0}}}`,
    version: 3,
    created_at: 1_000,
    updated_at: 2_000,
    completed_at: settled ? 2_000 : null,
    deleted_at: null,
    ...values,
  }
  const given = names.map((name) => literal(row[name] as string | number | null))
  return `insert into task (${names.join(', ')}) values (${given.join(', ')})`
}

/** Insert statements, in an order that foreign keys allow. */
export const firstVersionRows: readonly string[] = [
  task('task-root', { is_group: 1, status: 'working' }),
  task('task-child', { parent_id: 'task-root', executor: 'work', ready: 1, key: 'the-key' }),
  task('task-sibling', { parent_id: 'task-root', status: 'completed', executor: 'work', run: 1 }),
  task('task-grandchild', { parent_id: 'task-sibling' }),
  task('task-great', { parent_id: 'task-grandchild', deleted_at: 2_000, status: 'canceled', status_reason: 'deleted' }),
  task('task-byhand', { status: 'working' }),
  task('task-blocked', { open_blockers: 1 }),
  task('task-timed', { not_before: 8_000_000_000_000 }),
  task('task-released', { status: 'waiting', status_reason: 'interrupted' }),
  task('task-deleted', { deleted_at: 2_000 }),
  task('task-paused', { status: 'paused', held: 1, executor: 'work', run: 1 }),
  task('task-asking', { status: 'input_required', executor: 'work', run: 1 }),
  task('task-waiting', { status: 'waiting', executor: 'work', run: 1 }),
  task('task-failed', { status: 'failed', executor: 'work', run: 1 }),
  task('task-canceled', { status: 'canceled', status_reason: 'no more' }),
  task('task-running', { status: 'working', executor: 'work', run: 1, run_open: 1 }),
  `insert into dependency (task_id, blocker_id, kind, call_id, position, satisfied_at, created_at) values
    ('task-blocked', 'task-byhand', 'after', '', 0, null, 1000),
    ('task-blocked', 'task-sibling', 'after', '', 1, 1500, 1000),
    ('task-waiting', 'task-byhand', 'wait', 'call-wait', 0, null, 1000)`,
  `insert into instance (id, pid, host, started_at, ended_at) values
    ('instance-old', 999999, 'elsewhere', 900, null), ('instance-older', 999998, 'elsewhere', 800, 850)`,
  `insert into run (task_id, number, attempt, instance_id, status, outcome, error, started_at, ended_at, closed_at, due_at) values
    ('task-sibling', 1, 1, 'instance-older', 'closed', 'completed', null, 1000, 1900, 1900, null),
    ('task-running', 1, 1, 'instance-old', 'live', null, null, 1000, null, null, null)`,
  `insert into call (id, task_id, run, attempt, kind, name, ident, ordinal, params, status, on_interrupt, details, result, error, due_at, created_at, updated_at) values
    ('call-done', 'task-sibling', 1, 1, 'call', 'fetch', 'p:null', 0, 'null', 'completed', 'fail', 'null', '7', null, null, 1000, 1100),
    ('call-wait', 'task-waiting', 1, 1, 'wait', 'wait', 'p:null', 0, '{"tasks":["task-byhand"],"mode":"all","settled":false}', 'pending', 'fail', 'null', 'null', null, null, 1000, 1000)`,
  `insert into message (task_id, n, id, role, content, announcement, run, ident, ordinal, timestamp) values
    ('task-child', 1, 'message-1', 'user', 'hello', 0, null, null, 0, 1000),
    ('task-child', 2, 'message-2', 'assistant', 'good day', 0, 1, null, 0, 1001)`,
  `insert into event (type, task_id, at, instance_id, data)
    select 'task.created', id, 1000, 'instance-old', '{"status":"submitted"}' from task order by seq`,
]

/** The columns of later versions after the upgrade. */
export const upgradedNumbers: Readonly<Record<string, readonly [depth: number, children: number, claimable: boolean]>> =
  {
    'task-root': [0, 2, false],
    'task-child': [1, 0, false],
    'task-sibling': [1, 1, false],
    'task-grandchild': [2, 1, true],
    'task-great': [3, 0, false],
    'task-byhand': [0, 0, false],
    'task-blocked': [0, 0, false],
    'task-timed': [0, 0, false],
    'task-released': [0, 0, true],
    'task-deleted': [0, 0, false],
    'task-paused': [0, 0, false],
    'task-asking': [0, 0, false],
    'task-waiting': [0, 0, false],
    'task-failed': [0, 0, false],
    'task-canceled': [0, 0, false],
    'task-running': [0, 0, false],
  }
