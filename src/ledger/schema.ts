// The tables as Kysely sees them. JSON is TEXT and booleans are 0 or 1 on every database, so that rows compare equal.
import type { ColumnType, Generated } from 'kysely'

type Flag = number
/** Written once: no statement can be built that changes it. */
type Fixed = ColumnType<string, string, never>

export interface TaskTableRow {
  seq: Generated<number>
  id: string
  key: string | null
  name: string
  goal: string | null
  description: string
  status: string
  status_reason: string | null
  is_group: Flag
  ready: Flag
  claimable: Flag
  held: Flag
  executor: string | null
  input: string
  result: string
  error: string | null
  priority: number
  parent_id: string | null
  lane: string
  depth: number
  child_count: number
  owner: string | null
  fence: number
  lease_ms: number | null
  lease_until: number | null
  role: string | null
  tags: string
  attempt: number
  run: number
  run_open: Flag
  open_blockers: number
  stuck_by: string | null
  wakes: number
  crashes: number
  not_before: number | null
  deadline: number | null
  policy: string
  metadata: string
  progress: string | null
  snapshot: string
  version: number
  created_at: number
  updated_at: number
  completed_at: number | null
  deleted_at: number | null
}

export interface DependencyTableRow {
  task_id: string
  blocker_id: string
  kind: string
  call_id: string
  position: number
  satisfied_at: number | null
  created_at: number
}

export interface RunTableRow {
  task_id: string
  number: number
  attempt: number
  instance_id: string
  status: string
  outcome: string | null
  error: string | null
  started_at: number
  ended_at: number | null
  closed_at: number | null
  due_at: number | null
}

export interface CallTableRow {
  seq: Generated<number>
  id: string
  task_id: string
  run: number
  attempt: number
  kind: string
  name: string
  ident: string
  ordinal: number
  params: string
  status: string
  on_interrupt: string
  parent_id: string | null
  details: string
  result: string
  error: string | null
  start_message_id: string | null
  end_message_id: string | null
  due_at: number | null
  created_at: number
  updated_at: number
}

export interface MessageTableRow {
  task_id: string
  n: number
  id: string
  role: string
  content: string
  announcement: Flag
  step: string | null
  delivery: string | null
  run: number | null
  ident: string | null
  ordinal: number
  timestamp: number
}

export interface EventTableRow {
  seq: Generated<number>
  type: string
  task_id: string
  at: number
  instance_id: string
  data: string
}

export interface InstanceTableRow {
  id: string
  pid: number
  host: string
  started_at: number
  lease_until: number
  ended_at: number | null
}

export interface SettingTableRow {
  name: string
  value: string
}

export interface BoardTableRow {
  name: string
  parent_id: string | null
  next_number: number
  seen_seq: number
  created_at: number
}

export interface BoardTaskTableRow {
  board: string
  number: number
  task_id: string
  fields: string
}

export interface MailTableRow {
  seq: Generated<number>
  id: string
  board: string
  sender: string
  recipient: string
  kind: string
  topic: string
  body: string
  request_id: string | null
  verdict: string | null
  created_at: number
  read_at: number | null
}

export interface BoardMirrorTableRow {
  dir: string
  board: string
  instance_id: string
  until: number
}

export interface BoardFileTableRow {
  dir: string
  number: number
  version: number
  text: string
}

export interface BranchTableRow {
  seq: Generated<number>
  name: string
  parent: string | null
  description: string
  status: string
  task_id: string | null
  agent_id: string | null
  created_at: number
  updated_at: number
}

export interface ObservationTableRow {
  seq: Generated<number>
  id: string
  session_id: string
  branch: string
  type: string
  content: string
  outcome: string | null
  task_id: string | null
  agent_id: string | null
  created_at: number
  consolidated_by: string | null
}

export interface FactTableRow {
  seq: Generated<number>
  id: Fixed
  branch: Fixed
  text: Fixed
  category: Fixed
  confidence: number
  session_id: string | null
  task_id: string | null
  agent_id: string | null
  observation_id: string | null
  origin_id: string | null
  status: string
  successor_id: string | null
  disputed: Flag
  verdict: string | null
  compared_by: string | null
  merged_to: string | null
  merged_confidence: number | null
  /** What it is about, as a key; '' for nothing. Never read back. */
  subject: Fixed
  created_at: number
  updated_at: number
}

export interface FactWordTableRow {
  /** The `seq` of its branch. */
  branch: number
  word: string
  size: number
  /** The `seq` of the fact. */
  fact: number
}

export interface FactVectorTableRow {
  fact: number
  model: string
  vector: string
}

export interface ConsolidationTableRow {
  seq: Generated<number>
  id: string
  type: string
  source_branch: string
  target_branch: string
  session_id: string | null
  agent_id: string | null
  task_id: string | null
  trigger: string
  observations_processed: number
  facts_created: number
  facts_updated: number
  facts_deduplicated: number
  durable: number | null
  ephemeral: number | null
  merged: number | null
  rejected: number | null
  summary: string | null
  at: number
}

export interface DecisionTableRow {
  seq: Generated<number>
  consolidation_id: string
  kind: string
  fact_id: string
  other_id: string | null
  observation_id: string | null
  similarity: number | null
  before: number | null
  after: number | null
  note: string | null
}

export interface TeamTableRow {
  task_id: string
  type: string | null
  branch: string
  parent_branch: string
  durable_threshold: number | null
  durable_categories: string | null
  summary: string | null
  checkpoint_id: string | null
  merge_id: string | null
  closed_at: number | null
  created_at: number
}

export interface ObjectiveTableRow {
  task_id: string
  number: number
  description: string
  status: string
  agent_id: string | null
  notes: string | null
  updated_at: number
}

export interface StintTableRow {
  seq: Generated<number>
  task_id: string
  agent_id: string
  number: number
  role: string | null
  branch: string
  status: string
  objectives: string
  summary: string | null
  worker_id: string | null
  joined_at: number
  left_at: number | null
}

export interface Database {
  task: TaskTableRow
  dependency: DependencyTableRow
  run: RunTableRow
  call: CallTableRow
  message: MessageTableRow
  event: EventTableRow
  instance: InstanceTableRow
  setting: SettingTableRow
  board: BoardTableRow
  board_task: BoardTaskTableRow
  mail: MailTableRow
  board_mirror: BoardMirrorTableRow
  board_file: BoardFileTableRow
  branch: BranchTableRow
  observation: ObservationTableRow
  fact: FactTableRow
  fact_word: FactWordTableRow
  fact_vector: FactVectorTableRow
  consolidation: ConsolidationTableRow
  decision: DecisionTableRow
  team: TeamTableRow
  objective: ObjectiveTableRow
  stint: StintTableRow
}
