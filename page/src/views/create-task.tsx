// The form for a new task: for an executor, for an agent with a goal, or to be claimed.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import { idempotencyKeys } from '../live/idempotency-keys.ts'
import { bodyOf, type Draft, emptyDraft, type Wrong } from '../model/new-task.ts'
import { enteredFrom, type Field as FormOfInput, fieldOf } from '../model/question-form.ts'
import type { Problem, TaskRow } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { engineStatus } from '../state/engine-status.ts'
import { executors as described, readExecutors } from '../state/executors.ts'
import { linkToAll } from '../state/filters.ts'
import { announce, go, route } from '../state/navigation.ts'
import { link } from '../state/task-list.ts'
import { Field, ProblemBox, useFocusOnOpen } from './elements.tsx'
import { FieldInput } from './question-fields.tsx'

export function CreateTask() {
  useFocusOnOpen()
  const here = route.value
  const [draft, setDraft] = useState<Draft>({ ...emptyDraft, parentId: (here.view === 'new' && here.parentId) || '' })
  const [wrong, setWrong] = useState<Wrong>({})
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const keyOf = useMemo(() => idempotencyKeys((bytes) => crypto.getRandomValues(bytes)), [])
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  useEffect(() => void readExecutors(), [])
  const form = useMemo(() => formOf(draft.executor), [draft.executor, described.value])
  const create = async () => {
    const made = bodyOf(draft, form)
    setWrong('wrong' in made ? made.wrong : {})
    if ('wrong' in made) return
    setBusy(true)
    setProblem(null)
    try {
      const headers = { 'idempotency-key': keyOf(made.body) }
      const { taskId } = await api.post<{ taskId: string; task: TaskRow }>('tasks', made.body, headers)
      announce('Task created')
      go({ view: 'task', id: taskId })
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }
  // An executor with an input of its own seldom needs a goal.
  const goal = (
    <TextField label="Goal" value={draft.goal} wrong={wrong.goal} rows={2} onInput={(text) => change({ goal: text })} />
  )
  const parent = link.store.rows.get(draft.parentId)
  return (
    <main class="create" id="main" tabIndex={-1}>
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href={linkToAll.value}>All tasks</a>
      </nav>
      <h1>Create a task</h1>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <ExecutorField value={draft.executor} onChange={(executor) => change({ executor, entered: null })} />
        <TextField label="Name" value={draft.name} wrong={wrong.name} onInput={(name) => change({ name })} />
        {draft.executor === '' ? (
          <label class="choice">
            <input
              type="checkbox"
              checked={draft.claimed}
              onChange={(event) => change({ claimed: event.currentTarget.checked })}
            />
            Waits to be claimed
          </label>
        ) : null}
        {form === null && !(draft.claimed && draft.executor === '') ? goal : null}
        {form === null ? (
          <TextField
            label="Input"
            note="JSON"
            value={draft.input}
            rows={5}
            code
            wrong={wrong.input}
            onInput={(input) => change({ input })}
          />
        ) : (
          <FieldInput
            field={form}
            label="Input"
            entered={draft.entered ?? enteredFrom(form, undefined)}
            wrong={wrong.entered ?? null}
            onChange={(entered) => change({ entered })}
          />
        )}
        <details class="more" open={draft.parentId !== '' || wrong.priority !== undefined}>
          <summary>More</summary>
          {form === null ? null : goal}
          <TextField
            label="Description"
            value={draft.description}
            rows={2}
            onInput={(description) => change({ description })}
          />
          <TextField
            label="Priority"
            note="Higher runs first."
            value={draft.priority}
            wrong={wrong.priority}
            onInput={(priority) => change({ priority })}
          />
          <TextField
            label="Parent"
            note={
              draft.parentId === ''
                ? 'Id of the parent task; empty for none.'
                : (parent?.name ?? 'not among the loaded tasks')
            }
            value={draft.parentId}
            onInput={(parentId) => change({ parentId: parentId.trim() })}
          />
        </details>
        {problem === null ? null : <ProblemBox problem={problem} />}
        <div class="dialog-buttons">
          <a href={linkToAll.value} class="button">
            Back
          </a>
          <button type="submit" class="primary" disabled={busy}>
            {busy ? 'Creating…' : 'Create task'}
          </button>
        </div>
      </form>
    </main>
  )
}

/** The form of an executor's input; null if its input is entered as JSON. */
function formOf(executor: string): FormOfInput | null {
  const schema = described.value?.find(({ name }) => name === executor)?.inputSchema ?? null
  const form = schema === null ? null : fieldOf(schema)
  return form?.kind === 'json' ? null : form
}

function ExecutorField({ value, onChange }: { value: string; onChange: (executor: string) => void }) {
  const names = described.value?.map(({ name }) => name) ?? engineStatus.value?.executors ?? []
  return (
    <Field
      label="Executor"
      note="Runs the task. Without an executor, an agent works on the goal, or the task waits until it is claimed."
    >
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">none</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface TextFieldProps {
  label: string
  value: string
  onInput: (value: string) => void
  note?: string
  rows?: number
  code?: boolean
  wrong?: string | undefined
}

function TextField({ label, value, onInput, note, rows = 1, code = false, wrong }: TextFieldProps) {
  const base = {
    value,
    class: code ? 'code' : '',
    spellcheck: !code,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  }
  return (
    <Field label={label} note={note} wrong={wrong}>
      {(control) =>
        rows > 1 ? <textarea rows={rows} {...control} {...base} /> : <input type="text" {...control} {...base} />
      }
    </Field>
  )
}
