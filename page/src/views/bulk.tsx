// Actions on the selected tasks, or on all that the filters show: the bar that offers them, and the dialog that asks before, shows the
// progress, and what was refused.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import { changeTasks, type Refused } from '../live/batch.ts'
import { type BulkAction, type BulkPlan, bulkLabels, offeredFor, planBulk } from '../model/bulk.ts'
import { isFiltering } from '../model/filters.ts'
import { counted } from '../model/format.ts'
import { wordOf } from '../model/lifecycle.ts'
import type { Problem, TaskRow } from '../model/wire.ts'
import { api, clock } from '../state/api.ts'
import { keyOf } from '../state/keyed-actions.ts'
import { announce } from '../state/navigation.ts'
import { asked, rowsOf, select, selected } from '../state/selection.ts'
import { choice, followRows, link, listing, past } from '../state/task-list.ts'
import { Form } from './action-form.tsx'
import { Dialog, Field } from './elements.tsx'

/** Shown while tasks are selected, or a filter is active. */
export function BulkBar() {
  followRows()
  if (past.value !== null) return null
  const chosen = rowsOf(selected.value)
  if (chosen.length > 0) {
    return (
      <Bar label="Selected tasks" title={`${chosen.length.toLocaleString('en')} selected`} rows={chosen}>
        <button type="button" class="link" onClick={() => select([])}>
          clear selection
        </button>
      </Bar>
    )
  }
  const { matching } = listing.value
  if (!isFiltering(choice.value) || matching.length === 0) return null
  const count = matching.length.toLocaleString('en')
  return (
    <Bar label="Tasks that match" title={matching.length === 1 ? '1 matches' : `${count} match`} rows={matching} all />
  )
}

interface BarProps {
  label: string
  title: string
  rows: readonly TaskRow[]
  /** They are all that the filters show. */
  all?: boolean
  children?: ComponentChildren
}

function Bar({ label, title, rows, all = false, children }: BarProps) {
  return (
    <div class="bulk" role="toolbar" aria-label={label}>
      <b>{title}</b>
      {offeredFor(rows).map(({ action, accepting }) => (
        <button
          type="button"
          key={action}
          class={action === 'cancel' || action === 'delete' ? 'danger' : ''}
          title={all || keyOf(action) === undefined ? undefined : `Key: ${keyOf(action)}`}
          onClick={() => {
            asked.value = { action, ids: rows.map(({ id }) => id) }
          }}
        >
          {bulkLabels[action]}
          {all ? ' all' : ''} {all || accepting < rows.length ? accepting.toLocaleString('en') : ''}
        </button>
      ))}
      {children}
    </div>
  )
}

interface BulkDialogProps {
  action: BulkAction
  ids: readonly string[]
  onClose: () => void
}

/** Sends the requests of a dialog, part by part, until they are done or stopped. */
function useBatch({ action, ids, onClose }: BulkDialogProps) {
  // What is shown is what is requested, even if tasks change meanwhile.
  const [plan, setPlan] = useState<BulkPlan>(() => planBulk(action, rowsOf(ids), link.store))
  const [todo, setTodo] = useState(() => plan.rows.map(({ id }) => id))
  /** What the server will change; null until it has counted. */
  const [count, setCount] = useState<number | null>(null)
  const [refused, setRefused] = useState<Refused[]>([])
  /** The number of tasks requested so far; null if none is under way. */
  const [requested, setRequested] = useState<number | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const stop = useRef(new AbortController())
  const before = useRef<number | undefined>(undefined)
  useEffect(() => {
    const { signal } = stop.current
    changeTasks(api, clock, { action, ids: todo, dryRun: true }, signal).then(
      (found) => {
        if (signal.aborted) return
        setCount(found.done)
        setRefused(found.refused)
      },
      (error: unknown) => setProblem(problemOf(error)),
    )
    return () => stop.current.abort()
  }, [])
  const run = async (reason: string) => {
    stop.current = new AbortController()
    const { signal } = stop.current
    let [sent, done] = [0, 0]
    const found: Refused[] = []
    setProblem(null)
    setRefused([])
    setRequested(0)
    const request = { action, ids: todo, before: before.current, ...(action === 'cancel' && { reason }) }
    try {
      await changeTasks(api, clock, request, signal, (upTo, outcome) => {
        sent = upTo
        done = outcome.done
        before.current = outcome.before
        found.splice(0, found.length, ...outcome.refused)
        setRequested(upTo)
      })
    } catch (error) {
      setProblem(problemOf(error))
    }
    setRequested(null)
    const rest = [...found.map(({ taskId }) => taskId), ...todo.slice(sent)]
    announce(`${bulkLabels[action]}: done for ${counted(done, 'task')}, ${found.length} refused`)
    if (rest.length === 0) {
      select([])
      onClose()
      return
    }
    setRefused(found)
    setTodo(rest)
    setCount(rest.length)
    setPlan({ rows: rowsOf(rest), left: [], below: 0 })
  }
  return { plan, todo, count, refused, requested, problem, run, stop: () => stop.current.abort() }
}

export function BulkDialog(props: BulkDialogProps) {
  const { action, onClose } = props
  const { plan, todo, count, refused, requested, problem, run, stop } = useBatch(props)
  const [reason, setReason] = useState('')
  const isVoid = plan.rows.length === 0
  const total = (count ?? todo.length) + plan.below
  const label = `${bulkLabels[action]} ${total === 1 ? 'the task' : counted(total, 'task')}`
  const isRunning = requested !== null
  return (
    <Dialog label={label} onClose={onClose}>
      <Form
        title={isVoid ? `None of them can ${action} now` : `${label}?`}
        problem={problem}
        busy={isRunning || (count === null && problem === null && !isVoid)}
        submitLabel={isVoid ? 'Close' : isRunning ? `${requested} of ${todo.length}` : label}
        danger={(action === 'cancel' || action === 'delete') && !isVoid}
        onClose={onClose}
        onStop={isRunning ? stop : undefined}
        onSubmit={() => (isVoid ? onClose() : void run(reason.trim() === '' ? 'canceled by hand' : reason))}
      >
        {refused.length === 0 ? <Planned action={action} plan={plan} /> : <Refusals refused={refused} />}
        {isRunning ? <progress aria-label="Progress" value={requested} max={todo.length} /> : null}
        {action === 'cancel' && !isVoid ? (
          <Field label="Reason (optional)">
            {(control) => (
              <input
                {...control}
                type="text"
                value={reason}
                onInput={(event) => setReason(event.currentTarget.value)}
              />
            )}
          </Field>
        ) : null}
      </Form>
    </Dialog>
  )
}

const consequences: Record<BulkAction, string> = {
  pause: 'Their runs end at once. Completed calls are kept, and a resume continues from there.',
  resume: 'They continue as soon as a slot is free.',
  retry: 'Each starts a new attempt. Completed calls of earlier attempts are kept, failed ones are repeated.',
  cancel: 'This cannot be undone.',
  delete:
    'This cannot be undone. Open ones are canceled first, and tasks below them that are not deleted move to the top.',
}

function Planned({ action, plan: { rows, left, below } }: { action: BulkAction; plan: BulkPlan }) {
  return (
    <>
      <Names rows={rows} of={({ name, seq }) => `#${seq} ${name}`} />
      {rows.length === 0 ? null : (
        <p>
          {consequences[action]}
          {below === 0 ? '' : ` ${counted(below, 'open task')} below ${below === 1 ? 'is' : 'are'} canceled, too.`}
        </p>
      )}
      {left.length === 0 ? null : (
        <>
          <p class="note">Left as {left.length === 1 ? 'it is' : 'they are'}:</p>
          <Names rows={left} of={(row) => `#${row.seq} ${row.name} is ${wordOf(row)}`} />
        </>
      )}
    </>
  )
}

const maxNames = 6
const maxRefusals = 50

function Names({ rows, of }: { rows: TaskRow[]; of: (row: TaskRow) => ComponentChildren }) {
  if (rows.length === 0) return null
  return (
    <ul class="names">
      {rows.slice(0, maxNames).map((row) => (
        <li key={row.id}>{of(row)}</li>
      ))}
      {rows.length > maxNames ? <li class="note">and {(rows.length - maxNames).toLocaleString('en')} more</li> : null}
    </ul>
  )
}

function Refusals({ refused }: { refused: readonly Refused[] }) {
  return (
    <div class="problem" role="alert">
      <strong>{counted(refused.length, 'task')} refused</strong>
      <ul class="names">
        {refused.slice(0, maxRefusals).map(({ taskId, name, message }) => (
          <li key={taskId}>
            {name}: {message}
          </li>
        ))}
        {refused.length > maxRefusals ? <li>and {(refused.length - maxRefusals).toLocaleString('en')} more</li> : null}
      </ul>
    </div>
  )
}
