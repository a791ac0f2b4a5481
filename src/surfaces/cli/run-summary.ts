// The summary of a run: its outcome, the tasks that need help with the command for each, and the last lines of a task's output.
import type { PlanOutcome } from '../../entities/plan-run.ts'
import { isQueuedTask, type Task } from '../../entities/task.ts'
import { markOf } from '../../plans/round.ts'
import { answerChoices } from '../terminal/answer-text.ts'
import { createPaint, type Paint } from '../terminal/paint.ts'
import { shellCommand } from '../terminal/shell-quote.ts'
import { endReason, stateLabel, taskNumber } from '../terminal/task-labels.ts'
import { cleanLine, cleanText, firstLine } from '../terminal/terminal-text.ts'

export interface SummaryOptions {
  paint: Paint
  /** `--ledger FILE` for the commands that are shown, if the user gave it. */
  ledgerFlag: string[]
  /** Duration of the run as text; undefined when nothing had to be done. */
  duration: string | undefined
  /** Ids of the tasks that were completed before the run. */
  before: ReadonlySet<string>
}

export function summarize(outcome: PlanOutcome, { paint, ledgerFlag, duration, before }: SummaryOptions): string[] {
  const command = commandWith(ledgerFlag)
  return [
    ...outcome.broken.flatMap((task) => [
      `${paint.bad(`✗ ${planLabel(task)} ${task.status === 'failed' ? 'failed' : 'was canceled'}`)}${endReason(task) === '' ? '' : `: ${endReason(task)}`}`,
      ...(task.status === 'failed' ? [command('logs', task)] : []),
    ]),
    ...outcome.blocked.map(
      ({ task, by }) => `${paint.bad(`✗ ${planLabel(task)} is blocked`)} by ${by.map(planLabel).join(', ')}`,
    ),
    ...outcome.missing.map((path) => paint.bad(`✗ ${cleanLine(path)} was deleted`)),
    ...helpLines(outcome, paint, ledgerFlag),
    ...outcome.completed.filter((task) => !before.has(task.id)).flatMap(cutResultNote),
    lastLineOf(outcome, paint, duration, before),
  ]
}

/** A result that holds only the end of a command's output, and where all of it is. */
function cutResultNote(task: Task): string[] {
  const { stdout, truncated, stdoutFile } = (task.result ?? {}) as Readonly<Record<string, unknown>>
  if (typeof stdout !== 'string' || truncated !== true) return []
  const rest = typeof stdoutFile === 'string' ? `; all that it printed to stdout is in ${cleanLine(stdoutFile)}` : ''
  return [`! ${planLabel(task)} printed more than a result holds: its result is the last 64 KiB${rest}`]
}

/**
 * Each question, pause and unclaimed task with the command that lets it go on.
 * @param tasks open ones that do not go on without help.
 */
export function helpNotes(tasks: readonly Task[], ledgerFlag: string[]): string[] {
  const waiting = tasks.filter((task) => !isQueuedTask(task))
  const asking = waiting.filter((task) => task.status === 'input_required')
  const paused = waiting.filter((task) => task.status === 'paused')
  const claimable = waiting.filter((task) => task.ready)
  const open = [asking, paused, claimable].every((each) => each.length === 0) ? tasks.slice(0, 1) : claimable
  return helpLines({ asking, paused, open }, createPaint(false), ledgerFlag)
}

type Waiting = Readonly<Record<'asking' | 'paused' | 'open', readonly Task[]>>

function helpLines({ asking, paused, open }: Waiting, paint: Paint, ledgerFlag: string[]): string[] {
  const command = commandWith(ledgerFlag)
  return [
    ...asking.flatMap((task) =>
      task.questions.flatMap((question) => [
        `${paint.asking(`? ${planLabel(task)} asks:`)} ${firstLine(question.question)}`,
        command(
          'answer',
          task,
          answerPlaceholder(question.schema),
          ...(task.questions.length > 1 ? ['--question', question.id] : []),
        ),
      ]),
    ),
    ...paused.flatMap((task) => [paint.asking(`‖ ${planLabel(task)} is paused`), command('resume', task)]),
    ...open.flatMap((task) =>
      task.ready && !isQueuedTask(task)
        ? [
            `· ${planLabel(task)} waits to be claimed`,
            command('claim', task, '--as', 'NAME', ...(task.role === null ? [] : ['--role', task.role])),
          ]
        : [`· ${planLabel(task)} is ${stateLabel(task)}`, command('why', task)],
    ),
  ]
}

/** A placeholder for the answer in a command: the choices that the question accepts, if it lists them. */
function answerPlaceholder(schema: unknown): string {
  const choices = answerChoices(schema)
  return choices.length === 0 ? 'VALUE' : choices.join('|')
}

function commandWith(ledgerFlag: string[]) {
  return (verb: string, task: Task, ...rest: string[]) =>
    `    ${shellCommand('errand', verb, taskNumber(task), ...rest, ...ledgerFlag)}`
}

/** `#4 collect/lines`: the number that every verb takes, and the path in the plan. */
export function planLabel(task: Task): string {
  return `${taskNumber(task)} ${cleanLine(markOf(task)?.path ?? task.name)}`
}

/** The last lines of a task's output, or of its answer. */
export function lastLines(task: Task): string[] {
  const result = task.result as { stdout?: unknown } | string | null
  const text = typeof result === 'string' ? result : typeof result?.stdout === 'string' ? result.stdout : ''
  const lines = cleanText(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.slice(-3)
}

function lastLineOf(
  outcome: PlanOutcome,
  paint: Paint,
  duration: string | undefined,
  before: ReadonlySet<string>,
): string {
  const { broken, blocked, asking, paused, open, missing } = outcome
  const others = [broken, blocked, asking, paused, open, missing].flat().length
  const total = outcome.completed.length + others
  if (others > 0)
    return `${outcome.completed.length} of ${total} tasks completed${duration === undefined ? '' : ` after ${duration}`}.`
  const earlier = outcome.completed.filter((task) => before.has(task.id)).length
  const which = earlier === 0 ? '' : `, ${earlier} of them before`
  if (duration !== undefined) return paint.good(`✓ ${count(total)} completed in ${duration}${which}.`)
  return paint.good(
    `✓ ${total === 1 ? 'The task was' : `All ${total} tasks were`} completed before: nothing to do. Add --again to run the plan again.`,
  )
}

function count(total: number): string {
  return total === 1 ? '1 task' : `${total} tasks`
}
