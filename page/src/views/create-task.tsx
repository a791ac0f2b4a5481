// The form for a new task: for an executor, for an agent with a goal, or to be claimed.

import { useMemo, useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import { idempotencyKeys } from '../live/idempotency-keys.ts'
import { readJson } from '../model/question-form.ts'
import type { Problem, TaskRow } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { engineStatus } from '../state/engine-status.ts'
import { announce, go, route } from '../state/navigation.ts'
import { link } from '../state/task-list.ts'
import { Field, ProblemBox, useFocusOnOpen } from './elements.tsx'

interface Draft {
  name: string
  goal: string
  description: string
  executor: string
  input: string
  priority: string
  parentId: string
  claimed: boolean
}

const empty: Draft = {
  name: '',
  goal: '',
  description: '',
  executor: '',
  input: '',
  priority: '0',
  parentId: '',
  claimed: false,
}

type Wrong = Partial<Record<keyof Draft, string>>

/** The body of the request, or the errors of the form. */
function bodyOf(draft: Draft): { body: Record<string, unknown> } | { wrong: Wrong } {
  const wrong: Wrong = {}
  const text = (value: string) => (value.trim() === '' ? undefined : value.trim())
  const [name, description] = [text(draft.name), text(draft.description)]
  // Without a goal no agent runs it: it waits to be claimed.
  const byHand = draft.claimed && draft.executor === ''
  const goal = byHand ? undefined : text(draft.goal)
  if (byHand && name === undefined) wrong.name = 'Enter a name.'
  if (!byHand && goal === undefined && draft.executor === '') wrong.goal = 'Enter a goal or an executor.'
  const priority = Number(draft.priority)
  if (!Number.isInteger(priority) || draft.priority.trim() === '') wrong.priority = 'Enter a whole number.'
  const input = draft.input.trim() === '' ? undefined : readJson(draft.input)
  if (input !== undefined && !input.ok) wrong.input = input.message
  if (Object.keys(wrong).length > 0) return { wrong }
  return {
    body: {
      ...(name === undefined ? {} : { name }),
      ...(goal === undefined ? {} : { goal }),
      ...(description === undefined ? {} : { description }),
      ...(draft.executor === '' ? {} : { executor: draft.executor }),
      ...(input?.ok ? { input: input.value } : {}),
      ...(draft.parentId === '' ? {} : { parentId: draft.parentId }),
      priority,
    },
  }
}

export function CreateTask() {
  useFocusOnOpen()
  const here = route.value
  const [draft, setDraft] = useState<Draft>({ ...empty, parentId: (here.view === 'new' && here.parentId) || '' })
  const [wrong, setWrong] = useState<Wrong>({})
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const keyOf = useMemo(() => idempotencyKeys((bytes) => crypto.getRandomValues(bytes)), [])
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const create = async () => {
    const made = bodyOf(draft)
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
  const executors = engineStatus.value?.executors ?? []
  const parent = link.store.rows.get(draft.parentId)
  return (
    <main class="create" id="main" tabIndex={-1}>
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href="#/">All tasks</a>
      </nav>
      <h1>Create a task</h1>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <TextField label="Name" value={draft.name} wrong={wrong.name} onInput={(name) => change({ name })} />
        <Field
          label="Executor"
          note="Works on the task. Without an executor, an agent pursues the goal, or the task is claimed."
        >
          {(control) => (
            <select
              {...control}
              value={draft.executor}
              onChange={(event) => change({ executor: event.currentTarget.value })}
            >
              <option value="">none</option>
              {executors.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
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
        {draft.claimed && draft.executor === '' ? null : (
          <TextField label="Goal" value={draft.goal} wrong={wrong.goal} rows={3} onInput={(goal) => change({ goal })} />
        )}
        <TextField
          label="Description"
          value={draft.description}
          rows={2}
          onInput={(description) => change({ description })}
        />
        <TextField
          label="Input"
          note="JSON"
          value={draft.input}
          rows={5}
          code
          wrong={wrong.input}
          onInput={(input) => change({ input })}
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
        {problem === null ? null : <ProblemBox problem={problem} />}
        <div class="dialog-buttons">
          <a href="#/" class="button">
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
