// Actions on the selected tasks: the bar that offers them, and the dialog that asks before and shows what was refused.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { withNumber } from '../live/api-client.ts'
import { type Refused, requestForEach } from '../live/bulk-requests.ts'
import { type BulkAction, type BulkPlan, bulkActions, planBulk } from '../model/bulk.ts'
import { counted } from '../model/format.ts'
import { actionLabels, wordOf } from '../model/lifecycle.ts'
import type { TaskRow } from '../model/wire.ts'
import { api, clock } from '../state/api.ts'
import { actionKeys } from '../state/keyed-actions.ts'
import { announce } from '../state/navigation.ts'
import { asked, rowsOf, select, selected } from '../state/selection.ts'
import { followRows, link, past } from '../state/task-list.ts'
import { Form } from './action-form.tsx'
import { Dialog, Field } from './elements.tsx'

/** Shown while tasks are selected. */
export function BulkBar() {
  followRows()
  const chosen = rowsOf(selected.value)
  if (chosen.length === 0 || past.value !== null) return null
  const offered = bulkActions
    .map((action) => ({ action, accepting: chosen.length - planBulk(action, chosen, link.store).left.length }))
    .filter(({ accepting }) => accepting > 0)
  return (
    <div class="bulk" role="toolbar" aria-label="Selected tasks">
      <b>{chosen.length.toLocaleString('en')} selected</b>
      {offered.map(({ action, accepting }) => (
        <button
          type="button"
          key={action}
          class={action === 'cancel' ? 'danger' : ''}
          title={`Key: ${actionKeys[action]}`}
          onClick={() => {
            asked.value = { action, ids: [...selected.peek()] }
          }}
        >
          {actionLabels[action]} {accepting < chosen.length ? accepting.toLocaleString('en') : ''}
        </button>
      ))}
      {offered.length === 0 ? <span class="note">Their states are final.</span> : null}
      <button type="button" class="link" onClick={() => select([])}>
        clear selection
      </button>
    </div>
  )
}

interface BulkDialogProps {
  action: BulkAction
  ids: readonly string[]
  onClose: () => void
}

export function BulkDialog({ action, ids, onClose }: BulkDialogProps) {
  // What is shown is what is requested, even if tasks change meanwhile.
  const [plan, setPlan] = useState<BulkPlan>(() => planBulk(action, rowsOf(ids), link.store))
  const [refused, setRefused] = useState<Array<Refused<TaskRow>>>([])
  const [done, setDone] = useState<number | null>(null)
  const [reason, setReason] = useState('')
  const { rows, below } = plan
  const total = rows.length + below
  const label = `${actionLabels[action]} ${total === 1 ? 'the task' : counted(total, 'task')}`
  const submit = async () => {
    if (rows.length === 0) return onClose()
    setRefused([])
    setDone(0)
    const body = action === 'cancel' ? { reason: reason.trim() === '' ? 'canceled by hand' : reason } : {}
    const post = ({ id }: TaskRow) => api.post(`tasks/${encodeURIComponent(id)}/${action}`, body)
    const found = await requestForEach(rows, post, clock, setDone)
    setDone(null)
    announce(
      `${actionLabels[action]}: done for ${counted(rows.length - found.length, 'task')}, ${found.length} refused`,
    )
    if (found.length === 0) {
      select([])
      return onClose()
    }
    setRefused(found)
    setPlan({ rows: found.map(({ item }) => item), left: [], below: 0 })
  }
  return (
    <Dialog label={label} onClose={onClose}>
      <Form
        title={rows.length === 0 ? `None of them can ${action} now` : `${label}?`}
        problem={null}
        busy={done !== null}
        submitLabel={rows.length === 0 ? 'Close' : done === null ? label : `${done} of ${rows.length}`}
        danger={action === 'cancel' && rows.length > 0}
        onClose={onClose}
        onSubmit={() => void submit()}
      >
        {refused.length === 0 ? <Planned action={action} plan={plan} /> : <Refusals refused={refused} />}
        {action === 'cancel' && rows.length > 0 ? (
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

function Refusals({ refused }: { refused: Array<Refused<TaskRow>> }) {
  return (
    <div class="problem" role="alert">
      <strong>{counted(refused.length, 'task')} refused</strong>
      <ul class="names">
        {refused.slice(0, maxNames).map(({ item, problem }) => (
          <li key={item.id}>
            {item.name}: {withNumber(problem, item).detail}
          </li>
        ))}
        {refused.length > maxNames ? <li>and {refused.length - maxNames} more</li> : null}
      </ul>
    </div>
  )
}
