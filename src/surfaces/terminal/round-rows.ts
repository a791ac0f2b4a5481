// The rows that `errand run` shows of a round: one per task of the plan, kept up to date by the feed. Rows are for the screen only;
// decisions read the ledger.
import type { TaskEvent } from '../../entities/event.ts'
import type { Question } from '../../entities/question.ts'
import { isQueuedTask, isSettled, type Task, type TaskStatus } from '../../entities/task.ts'
import type { RoundObserver } from '../../plans/follow-round.ts'
import type { Plan } from '../../plans/plan.ts'
import type { KnownRound } from '../../plans/round.ts'
import { errorMessageOf, outputOf, statusAfter, textOf } from './event-fields.ts'
import { stateLabel, taskNumber } from './task-labels.ts'
import { cleanLine, firstLine, lastLine, shownPiece } from './terminal-text.ts'

/** A question that may be answered at the terminal. */
export type OpenQuestion = Omit<Question, 'askedAt' | 'for'> & Pick<TaskEvent, 'taskId'>

export interface Row {
  /** Null for a task that an agent has just created: its event has no number. */
  seq: number | null
  path: string
  name: string
  depth: number
  group: boolean
  taskId: string
  status: TaskStatus
  /** Waits for a slot. */
  ready: boolean
  /** The state for people, as in every list. */
  word: string
  attempt: number
  /** When it last entered WORKING; null before the first time that was seen here. */
  startedAt: number | null
  /** When it settled; null while it is open, and when that was before it was seen here. */
  endedAt: number | null
  lastLine: string
  error: string
  question: OpenQuestion | null
  /** A model works on it: its calls are shown, too. */
  agent?: boolean
  /** An agent created it: it is not in the plan. */
  subtask?: boolean
}

/** `#12 lines`, with the name or the path of the task. */
export function rowLabel({ seq }: Pick<Row, 'seq'>, name: string): string {
  return seq === null ? cleanLine(name) : `${taskNumber({ seq })} ${cleanLine(name)}`
}

/** Reports a run: as a tree that is rewritten on a terminal (live-view.ts), or as lines or events (round-log.ts). */
export interface Reporter {
  /** It rewrites the terminal: no other output is written before its end. */
  readonly ownsScreen: boolean
  /** Reports an event of a task of the plan; `row` is the task's row after it. */
  event(event: TaskEvent, row: Row): void
  /** Ends the report and restores the terminal. */
  end(): void
}

export class RoundRows {
  readonly #rows: Row[]
  readonly #byTask: Map<string, Row>

  constructor(plan: Pick<Plan, 'byPath'>, known: KnownRound) {
    this.#rows = [...plan.byPath.values()].flatMap(({ path, name, group }) => {
      const task = known.newest.get(path)?.task
      return task === undefined ? [] : [plannedRow({ path, name, group, depth: path.split('/').length - 1 }, task)]
    })
    this.#byTask = new Map(this.rows.map((row) => [row.taskId, row]))
  }

  /** The tasks of the plan in its order, each followed by the subtasks that its agent created. */
  get rows(): readonly Row[] {
    return this.#rows
  }

  /** Adds a task that is not in the plan; subtasks created below it are added, too. */
  follow(task: Task): void {
    const row = plannedRow({ path: cleanLine(task.name), name: task.name, group: task.group, depth: 0 }, task)
    this.#rows.push(row)
    this.#byTask.set(task.id, row)
  }

  /** Adds a task that an agent created. Children of other tasks are not shown. */
  adopt(task: RowTask): Row | undefined {
    const parent = task.parentId === null ? undefined : this.#byTask.get(task.parentId)
    if (parent === undefined || this.#byTask.has(task.id) || !(parent.agent || parent.subtask)) return undefined
    const name = cleanLine(task.name)
    const path = `${parent.path}/${name.replaceAll('/', ' ')}`
    const row = { ...rowOf({ path, name, group: task.group, depth: parent.depth + 1 }, task), subtask: true }
    this.#rows.splice(this.#endOf(parent), 0, row)
    this.#byTask.set(task.id, row)
    return row
  }

  /** Index after the last row below this one. */
  #endOf(parent: Row): number {
    const begin = this.#rows.indexOf(parent) + 1
    const length = this.#rows.slice(begin).findIndex((row) => row.depth <= parent.depth)
    return length === -1 ? this.#rows.length : begin + length
  }

  row(taskId: string): Row | undefined {
    return this.#byTask.get(taskId)
  }

  /** Updates the row of an event's task and returns it; undefined for a task without a row. */
  apply(event: TaskEvent): Row | undefined {
    const row = this.#byTask.get(event.taskId) ?? this.#adoptBy(event)
    if (row === undefined) return undefined
    const status = statusAfter(event) ?? row.status
    if (status === 'working' && row.status !== 'working')
      Object.assign(row, { startedAt: event.at, endedAt: null, lastLine: '' })
    if (isSettled(status) && !isSettled(row.status)) row.endedAt = event.at
    row.status = status
    row.ready = event.data['ready'] === true
    // Only a read says that the last of several blockers has completed.
    const isBlocked = status === 'submitted' && row.word === 'blocked'
    row.word = row.ready ? 'queued' : isBlocked ? row.word : status
    const attempt = event.data['attempt']
    if (typeof attempt === 'number') row.attempt = attempt
    if (event.type === 'question.asked') row.question = askedBy(event)
    if (event.type === 'task.answered' || event.type === 'task.started') row.question = null
    if (event.type === 'task.failed') row.error = firstLine(errorMessageOf(event))
    row.lastLine =
      lastLine(outputOf(event).split('\n').map(shownPiece).join('\n')) || agentLine(row, event) || row.lastLine
    return row
  }

  #adoptBy({ type, taskId, data }: TaskEvent): Row | undefined {
    if (type !== 'task.created') return undefined
    const { name, parentId, executor } = data
    if (typeof parentId !== 'string') return undefined
    return this.adopt({
      id: taskId,
      seq: null,
      name: String(name),
      parentId,
      executor: (executor as string) ?? null,
      group: false,
      status: 'submitted',
      statusReason: null,
      ready: false,
      attempt: 1,
      error: null,
      questions: [],
      blockedBy: [],
    })
  }

  /** Updates the rows from tasks that were just read. */
  refresh(tasks: Iterable<Task>): void {
    for (const task of tasks) {
      const row = this.#byTask.get(task.id)
      if (row !== undefined) Object.assign(row, stateOf(task))
    }
  }

  /** True when no task is working, according to the events so far. */
  get looksIdle(): boolean {
    return this.rows.every((row) => row.group || row.status !== 'working')
  }
}

/** Updates the rows while their round is followed, and reports each event of a task of the plan. */
export function observing(view: RoundRows, reporter: Reporter): RoundObserver {
  return {
    event(event) {
      const row = view.apply(event)
      if (row !== undefined) reporter.event(event, row)
    },
    refresh: (tasks) => view.refresh(tasks),
    includes: (taskId) => view.row(taskId) !== undefined,
    get looksIdle() {
      return view.looksIdle
    },
  }
}

/** The fields of a task that its row shows. */
type RowTask = Pick<
  Task,
  | 'id'
  | 'name'
  | 'parentId'
  | 'group'
  | 'executor'
  | 'status'
  | 'statusReason'
  | 'ready'
  | 'attempt'
  | 'error'
  | 'questions'
  | 'blockedBy'
> &
  Pick<Row, 'seq'>
type Position = Pick<Row, 'path' | 'name' | 'group' | 'depth'>

function rowOf(position: Position, task: RowTask): Row {
  return {
    ...position,
    taskId: task.id,
    startedAt: null,
    endedAt: null,
    lastLine: '',
    agent: task.executor === 'agent',
    ...stateOf(task),
  }
}

function plannedRow(position: Position, task: Task): Row {
  return { ...rowOf(position, task), startedAt: task.status === 'working' ? task.updatedAt : null }
}

/** What an agent does now. Its text is in its messages. */
function agentLine({ agent }: Row, event: TaskEvent): string {
  if (!agent) return ''
  if (event.type === 'call.started') return `calls ${cleanLine(textOf(event, 'tool'))}`
  return event.type === 'model.failed' ? `the model failed: ${firstLine(errorMessageOf(event))}` : ''
}

function stateOf(task: RowTask): Pick<Row, 'seq' | 'status' | 'ready' | 'word' | 'attempt' | 'error' | 'question'> {
  return {
    seq: task.seq,
    status: task.status,
    ready: isQueuedTask(task),
    word: stateLabel(task),
    attempt: task.attempt,
    error: firstLine(task.error?.message ?? ''),
    question: questionOf(task),
  }
}

function questionOf({ id: taskId, status, ready, questions: [question] }: RowTask): OpenQuestion | null {
  return status === 'input_required' && !ready && question !== undefined ? { ...question, taskId } : null
}

function askedBy({ taskId, data }: TaskEvent): OpenQuestion {
  return {
    id: String(data['questionId']),
    taskId,
    question: String(data['question']),
    schema: data['schema'] ?? null,
    dueAt: typeof data['dueAt'] === 'number' ? data['dueAt'] : null,
    ...('default' in data ? { default: data['default'] } : {}),
  }
}
