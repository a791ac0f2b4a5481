// The tables as Kysely sees them, derived from the records that they hold. JSON is TEXT and booleans are 0 or 1 on every database, so
// that rows compare equal.
import type { ColumnType, Generated } from 'kysely'
import type { BoardEntry, BoardRecord, MailRecord, MirroredText } from '../entities/board.ts'
import type { CallRecord } from '../entities/call.ts'
import type { DependencyRecord } from '../entities/dependency.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import type {
  BranchRecord,
  ConsolidationRecord,
  DecisionRecord,
  FactRecord,
  ObservationRecord,
} from '../entities/memory.ts'
import type { MessageRecord } from '../entities/message.ts'
import type { RunRecord } from '../entities/run.ts'
import type { ScheduleRecord } from '../entities/schedule.ts'
import type { SignalRecord } from '../entities/signal.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { ObjectiveRecord, StintRecord, TeamRecord } from '../entities/team.ts'

/** The record of a row of each table. */
export interface Records {
  task: TaskRecord
  dependency: DependencyRecord
  run: RunRecord
  call: CallRecord
  message: MessageRecord
  signal: SignalRecord
  event: TaskEvent
  instance: InstanceRecord
  board: BoardRecord
  board_task: BoardEntry
  board_file: MirroredText
  mail: MailRecord
  branch: BranchRecord
  observation: ObservationRecord
  fact: FactRecord
  consolidation: ConsolidationRecord
  decision: DecisionRecord
  team: TeamRecord
  objective: ObjectiveRecord
  stint: StintRecord
  schedule: ScheduleRecord
}

export type TableName = keyof Records

/** `parentId` is stored in `parent_id`; GROUP is a keyword of SQL. */
export type ColumnName<Key extends string> = Key extends 'group' ? 'is_group' : SnakeCase<Key>

type SnakeCase<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

type Stored<Value> = unknown extends Value
  ? string
  : Value extends boolean
    ? number
    : Value extends string | number | null
      ? Value
      : string

type Row<R> = {
  [Key in keyof R & string as ColumnName<Key>]: Key extends 'seq' ? Generated<number> : Stored<R[Key]>
}

/** Written once: a statement that changes it does not compile. */
type Fixed = ColumnType<string, string, never>

export interface Database extends Omit<{ [T in TableName]: Row<Records[T]> }, 'dependency' | 'fact' | 'stint'> {
  dependency: Row<DependencyRecord> & { position: number }
  fact: Omit<Row<FactRecord>, 'id' | 'branch' | 'text' | 'category'> & {
    id: Fixed
    branch: Fixed
    text: Fixed
    category: Fixed
    /** The subject as a key; '' for none. Never read back. */
    subject: Fixed
  }
  stint: Row<StintRecord> & { seq: Generated<number> }
  setting: { name: string; value: string }
  /** The roots of families whose rows are being removed. */
  purging: { root_id: string }
  board_mirror: { dir: string; board: string; instance_id: string; until: number }
  fact_word: {
    /** The `seq` of its branch. */
    branch: number
    word: string
    size: number
    /** The `seq` of the fact. */
    fact: number
  }
  fact_vector: { fact: number; model: string; vector: string }
}
