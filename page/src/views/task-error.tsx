// The error of a task: what happened, the tasks that caused it, the chain of causes, and the stacks when they are unfolded.

import type { StoredCause, StoredError } from '../../../src/core/errors.ts'
import { startOf } from '../../../src/core/storable-text.ts'
import { causesOf, failedBehind } from '../model/error-causes.ts'
import type { OutputLine } from '../model/output.ts'
import { linkTo } from '../model/route.ts'
import type { TaskRow } from '../model/wire.ts'
import { storeShown } from '../state/task-list.ts'
import { LongText, StateBadge } from './elements.tsx'
import { JsonTree } from './json-tree.tsx'
import { LastOutput } from './task-output.tsx'

const maxTasks = 5
/** Classes that say no more than the word error. */
const ordinaryNames: ReadonlySet<string> = new Set(['', 'Error', 'Failure', 'ErrandError'])

interface TaskErrorProps {
  title: string
  error: StoredError
  taskId: string
  /** The last lines that the failed attempt printed. */
  output: readonly OutputLine[]
}

export function TaskError({ title, error, taskId, output }: TaskErrorProps) {
  const { tasks, more } = failedBehind(storeShown(), taskId, error, maxTasks)
  return (
    <section class="status-panel state-failed error-banner" aria-label={title}>
      <p>
        <strong class="error-title">
          <span aria-hidden="true">✕</span> {title}
        </strong>{' '}
        <code class="error-code">{error.code}</code>
      </p>
      <p class="error-message">
        {ordinaryNames.has(error.name ?? '') ? null : <strong>{error.name}: </strong>}
        <LongText text={error.message} label="the error" />
      </p>
      <LastOutput lines={output} />
      {tasks.length === 0 ? null : (
        <ul class="plain error-tasks" aria-label="Tasks that failed">
          {tasks.map((row) => (
            <FailedTask key={row.id} row={row} />
          ))}
          {more > 0 ? <li class="note">and {more.toLocaleString('en')} more</li> : null}
        </ul>
      )}
      <Trace error={tasks.length === 0 ? error : { ...error, details: null }} />
      {causesOf(error).map((cause, index) => (
        <div class="cause" key={String(index)}>
          <p>
            <span class="note">caused by</span> {cause.name === undefined ? null : <strong>{cause.name}: </strong>}
            <LongText text={cause.message} label="the cause" />{' '}
            {cause.code === undefined ? null : <code class="error-code">{cause.code}</code>}
          </p>
          <Trace error={cause} />
        </div>
      ))}
    </section>
  )
}

function FailedTask({ row }: { row: TaskRow }) {
  return (
    <li>
      <StateBadge status={row.status} />{' '}
      <a href={linkTo({ view: 'task', id: row.id })}>
        <code>#{row.seq}</code> {startOf(row.name, 80)}
      </a>{' '}
      {row.error === null ? null : (
        <span class="text">
          <code class="error-code">{row.error.code}</code> {startOf(row.error.message, 200)}
        </span>
      )}
    </li>
  )
}

/** The stack and the details of one error of the chain, folded. */
function Trace({ error: { stack, details } }: { error: StoredCause }) {
  return (
    <>
      {stack === undefined ? null : (
        <details>
          <summary>Stack</summary>
          <pre class="code" tabIndex={0}>
            {stack}
          </pre>
        </details>
      )}
      {details === undefined || details === null ? null : (
        <details>
          <summary>Details</summary>
          <JsonTree value={details} label="details" />
        </details>
      )}
    </>
  )
}
