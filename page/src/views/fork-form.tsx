// The dialog that forks a task: at which point, and with what in place of what is recorded. It opens the fork.

import { useState } from 'preact/hooks'
import { emptyFork, type ForkDraft, forkBody, forkPoints, isAgent } from '../model/fork.ts'
import { linkTo } from '../model/route.ts'
import { api } from '../state/api.ts'
import { go, session } from '../state/navigation.ts'
import { link, storeShown } from '../state/task-list.ts'
import { type ActionDialogProps, Form, pathOf, TaskName, useSubmit } from './action-form.tsx'
import { Field } from './elements.tsx'

interface TextProps {
  label: string
  field: 'result' | 'input' | 'model' | 'prompt'
  note?: string
  rows?: number
}

export function ForkForm(props: ActionDialogProps) {
  const { shown, onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  const [draft, setDraft] = useState(emptyFork)
  const [wrong, setWrong] = useState<Partial<ForkDraft>>({})
  const open = session.peek()
  const messages = open?.messages.peek() ?? []
  const calls = open?.calls.peek() ?? []
  const fork = async () => {
    const made = forkBody(draft)
    setWrong('wrong' in made ? made.wrong : {})
    if ('wrong' in made) return
    await submit(async () => {
      const { taskId } = await api.post<{ taskId: string }>(pathOf(shown, '/fork'), made.body)
      go({ view: 'task', id: taskId })
    })
  }
  const text = ({ label, field, note, rows = 1 }: TextProps) => (
    <Field label={label} note={note} wrong={wrong[field]}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          class={field === 'prompt' ? '' : 'code'}
          value={draft[field]}
          onInput={(event) => setDraft({ ...draft, [field]: event.currentTarget.value })}
        />
      )}
    </Field>
  )
  return (
    <Form
      title="Fork this task?"
      problem={problem}
      busy={busy}
      submitLabel="Fork"
      onClose={onClose}
      onSubmit={() => void fork()}
    >
      <TaskName shown={shown} />
      <p>
        A new task begins with what this one has recorded before the point, and goes on from there. This one stays as it
        is.
      </p>
      <Field label="From">
        {(control) => (
          <select
            {...control}
            value={draft.at}
            onChange={(event) => setDraft({ ...draft, at: event.currentTarget.value })}
          >
            {forkPoints(shown.task, calls, messages).map(([id, label]) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {text({
        label: 'Result of that call',
        field: 'result',
        note: 'JSON; empty: the fork makes the call itself.',
        rows: 2,
      })}
      {isAgent(shown.task, messages) ? (
        <>
          {text({ label: 'Model', field: 'model', note: 'Empty: that of the original.' })}
          {text({ label: 'Instructions', field: 'prompt', note: 'Empty: those of the original.', rows: 3 })}
        </>
      ) : (
        text({ label: 'Input', field: 'input', note: 'JSON; empty: that of the original.', rows: 2 })
      )}
    </Form>
  )
}

/** A task by its number, as far as the list has it. */
export function TaskLink({ id }: { id: string }) {
  const row = link.store.rows.get(id) ?? storeShown().rows.get(id)
  return (
    <a href={linkTo({ view: 'task', id })} title={row?.name}>
      {row === undefined ? id : `#${row.seq}`}
    </a>
  )
}
