// What `errand run` shows of a round while it runs: one row per task of the plan, kept up to date by the feed. The
// ledger is asked again whenever it matters (is it over, how did it end); a row is never more than what is on the
// screen.
import type { TaskEvent } from '../entities/event.ts'
import type { Question } from '../entities/question.ts'
import { isQueuedTask, isSettled, type Task, type TaskStatus } from '../entities/task.ts'
import type { RoundObserver } from '../plans/follow-round.ts'
import type { Plan } from '../plans/plan.ts'
import type { KnownRound } from '../plans/round.ts'
import { errorMessageOf, outputOf, statusAfter, textOf } from './event-fields.ts'

import { cleanLine, firstLine, lastLine } from './terminal-text.ts'

/** A question that waits for somebody at the terminal. */
export type OpenQuestion = Omit<Question, 'askedAt' | 'for'> & Pick<TaskEvent, 'taskId'>

export interface Row {
  path: string
  name: string
  depth: number
  group: boolean
  taskId: string
  status: TaskStatus
  /** Waits for a slot. */
  ready: boolean
  attempt: number
  /** When it last entered WORKING; null when it has not since this view began. */
  startedAt: number | null
  /** When it settled while this view looked on; null else. */
  endedAt: number | null
  lastLine: string
  error: string
  question: OpenQuestion | null
  /** A model works on it: what it does besides talking is worth a line. */
  agent?: boolean
  /** An agent made it: it stands in no plan. */
  subtask?: boolean
}

/** How a run is told: rewritten on a terminal (live-tree.ts), else line by line or as events (plain-lines.ts). */
export interface Reporter {
  /** It rewrites the terminal: nobody else may write to it before its end. */
  readonly ownsScreen: boolean
  /** An event of a task of the plan, and the task's row after it. */
  event(event: TaskEvent, row: Row): void
  /** Nothing is shown any more; gives the terminal back as it was. */
  end(): void
}

export class RoundView {
  readonly #rows: Row[]
  readonly #byTask: Map<string, Row>

  constructor(plan: Pick<Plan, 'byPath'>, known: KnownRound) {
    this.#rows = [...plan.byPath.values()].flatMap(({ path, name, group }) => {
      const task = known.newest.get(path)?.task
      return task === undefined ? [] : [plannedRow({ path, name, group, depth: path.split('/').length - 1 }, task)]
    })
    this.#byTask = new Map(this.rows.map((row) => [row.taskId, row]))
  }

  /** The tasks of the plan, in its order, each agent's followed by the tasks that it has made. */
  get rows(): readonly Row[] {
    return this.#rows
  }

  /** Takes in a task that stands in no plan, with whatever is made below it. */
  follow(task: Task): void {
    const row = plannedRow({ path: cleanLine(task.name), name: task.name, group: task.group, depth: 0 }, task)
    this.#rows.push(row)
    this.#byTask.set(task.id, row)
  }

  /** Takes in a task that an agent made; what another task has below it is nobody's business here. */
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

  /** Index behind the last row that is below this one. */
  #endOf(parent: Row): number {
    const begin = this.#rows.indexOf(parent) + 1
    const length = this.#rows.slice(begin).findIndex((row) => row.depth <= parent.depth)
    return length === -1 ? this.#rows.length : begin + length
  }

  row(taskId: string): Row | undefined {
    return this.#byTask.get(taskId)
  }

  /** Takes an event in; undefined when it is about no task of the plan. */
  apply(event: TaskEvent): Row | undefined {
    const row = this.#byTask.get(event.taskId) ?? this.#adoptBy(event)
    if (row === undefined) return undefined
    const status = statusAfter(event) ?? row.status
    if (status === 'working' && row.status !== 'working')
      Object.assign(row, { startedAt: event.at, endedAt: null, lastLine: '' })
    if (isSettled(status) && !isSettled(row.status)) row.endedAt = event.at
    row.status = status
    row.ready = event.data['ready'] === true
    const attempt = event.data['attempt']
    if (typeof attempt === 'number') row.attempt = attempt
    if (event.type === 'question.asked') row.question = askedBy(event)
    if (event.type === 'task.answered' || event.type === 'task.started') row.question = null
    if (event.type === 'task.failed') row.error = firstLine(errorMessageOf(event))
    row.lastLine = lastLine(outputOf(event)) || agentLine(row, event) || row.lastLine
    return row
  }

  #adoptBy({ type, taskId, data }: TaskEvent): Row | undefined {
    if (type !== 'task.created') return undefined
    const { name, parentId, executor } = data
    if (typeof parentId !== 'string') return undefined
    return this.adopt({
      id: taskId,
      name: String(name),
      parentId,
      executor: (executor as string) ?? null,
      group: false,
      status: 'submitted',
      ready: false,
      attempt: 1,
      error: null,
      questions: [],
    })
  }

  /** Takes in what the ledger says now. */
  refresh(tasks: Iterable<Task>): void {
    for (const task of tasks) {
      const row = this.#byTask.get(task.id)
      if (row !== undefined) Object.assign(row, stateOf(task))
    }
  }

  /** Nothing of the plan is at work as far as the feed has told. */
  get looksIdle(): boolean {
    return this.rows.every((row) => row.group || row.status !== 'working')
  }
}

/** Keeps the view up to date while its round is followed, and reports each event of a task of the plan. */
export function observing(view: RoundView, reporter: Reporter): RoundObserver {
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

/** What a row tells of its task. */
type RowTask = Pick<
  Task,
  'id' | 'name' | 'parentId' | 'group' | 'executor' | 'status' | 'ready' | 'attempt' | 'error' | 'questions'
>
type Place = Pick<Row, 'path' | 'name' | 'group' | 'depth'>

function rowOf(place: Place, task: RowTask): Row {
  return {
    ...place,
    taskId: task.id,
    startedAt: null,
    endedAt: null,
    lastLine: '',
    agent: task.executor === 'agent',
    ...stateOf(task),
  }
}

function plannedRow(place: Place, task: Task): Row {
  return { ...rowOf(place, task), startedAt: task.status === 'working' ? task.updatedAt : null }
}

/** What an agent does right now; what it says stands in its messages. */
function agentLine({ agent }: Row, event: TaskEvent): string {
  if (!agent) return ''
  if (event.type === 'call.started') return `calls ${cleanLine(textOf(event, 'tool'))}`
  return event.type === 'model.failed' ? `the model failed: ${firstLine(errorMessageOf(event))}` : ''
}

function stateOf(task: RowTask): Pick<Row, 'status' | 'ready' | 'attempt' | 'error' | 'question'> {
  return {
    status: task.status,
    ready: isQueuedTask(task),
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
