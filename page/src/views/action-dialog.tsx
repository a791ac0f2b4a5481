// The dialogs of the actions on a task. A refusal is shown in the dialog, and the input is kept.

import { useMemo, useState } from 'preact/hooks'
import { ApiError, problemOf } from '../live/api-client.ts'
import { attemptKeys } from '../live/attempt-key.ts'
import { type Change, changesBetween } from '../model/changes.ts'
import { type Action, actionWords, isSettled } from '../model/lifecycle.ts'
import { type Entered, enteredFrom, fieldOf, readEntered } from '../model/question-form.ts'
import type { Problem, ShownTask } from '../model/wire.ts'
import { announce, api, link } from '../state.ts'
import { Dialog, Field, LongText, ProblemBox } from './elements.tsx'
import { FieldInput } from './question-fields.tsx'

interface ActionDialogProps {
  action: Action
  shown: ShownTask
  onClose: () => void
  onDone: () => void
}

export function ActionDialog(props: ActionDialogProps) {
  const { action, shown, onClose } = props
  return (
    <Dialog label={`${actionWords[action]}: ${shown.task.name.slice(0, 80)}`} onClose={onClose}>
      <Body {...props} />
    </Dialog>
  )
}

function Body(props: ActionDialogProps) {
  if (props.action === 'answer') return <AnswerForm {...props} />
  if (props.action === 'send') return <SendForm {...props} />
  if (props.action === 'priority') return <PriorityForm {...props} />
  if (props.action === 'cancel') return <CancelForm {...props} />
  return <Confirmation {...props} />
}

/** Sends the request, shows its outcome, and closes the dialog on success. */
function useSubmit({ action, shown, onClose, onDone }: ActionDialogProps) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (request: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await request()
      announce(`${actionWords[action]}: done for ${shown.task.name}`)
      onDone()
      onClose()
    } catch (error) {
      const refusal = problemOf(error)
      setProblem(refusal)
      announce(`${actionWords[action]} refused: ${refusal.detail}`)
      return error
    } finally {
      setBusy(false)
    }
    return undefined
  }
  return { problem, busy, submit }
}

function pathOf({ task }: ShownTask, verb = ''): string {
  return `tasks/${encodeURIComponent(task.id)}${verb}`
}

interface FormProps {
  title: string
  children: preact.ComponentChildren
  problem: Problem | null
  busy: boolean
  submitLabel: string
  danger?: boolean
  onSubmit: () => void
  onClose: () => void
}

function Form({ title, children, problem, busy, submitLabel, danger = false, onSubmit, onClose }: FormProps) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <h2>{title}</h2>
      {children}
      {problem === null ? null : <ProblemBox problem={problem} />}
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy}>
          {busy ? `${submitLabel}…` : submitLabel}
        </button>
      </div>
    </form>
  )
}

const consequences: Readonly<Partial<Record<Action, string>>> = {
  start: 'It runs as soon as nothing blocks it.',
  pause: 'Its run ends at once. Completed calls are kept, and a resume continues from there.',
  resume: 'It continues as soon as a slot is free.',
  retry: 'It starts a new attempt. Completed calls of earlier attempts are kept, failed ones are repeated.',
}

function Confirmation(props: ActionDialogProps) {
  const { action, shown, onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  return (
    <Form
      title={`${actionWords[action]} this task?`}
      problem={problem}
      busy={busy}
      submitLabel={actionWords[action]}
      onClose={onClose}
      onSubmit={() => void submit(() => api.post(pathOf(shown, `/${action}`), {}))}
    >
      <TaskName shown={shown} />
      <p>{consequences[action]}</p>
    </Form>
  )
}

function TaskName({ shown: { task } }: { shown: ShownTask }) {
  return (
    <p class="dialog-task">
      <LongText text={task.name} label="the name" limit={120} /> <code>#{task.seq}</code>
    </p>
  )
}

function CancelForm(props: ActionDialogProps) {
  const { shown, onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  const [reason, setReason] = useState('')
  const below = link.store.descendants(shown.task.id).filter(({ status }) => !isSettled(status)).length
  return (
    <Form
      title="Cancel this task?"
      problem={problem}
      busy={busy}
      submitLabel={below === 0 ? 'Cancel the task' : `Cancel ${below + 1} tasks`}
      danger
      onClose={onClose}
      onSubmit={() =>
        void submit(() =>
          api.post(pathOf(shown, '/cancel'), { reason: reason.trim() === '' ? 'canceled by hand' : reason }),
        )
      }
    >
      <TaskName shown={shown} />
      <p>
        This is for good.{' '}
        {below === 0
          ? 'No task below it is open.'
          : `It takes ${below} open ${below === 1 ? 'task' : 'tasks'} below it along.`}
      </p>
      <Field label="Reason (optional)">
        {(control) => (
          <input {...control} type="text" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        )}
      </Field>
    </Form>
  )
}

function newKeys() {
  return attemptKeys((bytes) => crypto.getRandomValues(bytes))
}

const deliveries = [
  ['steer', 'before its next step'],
  ['followup', 'only when it would end'],
  ['abort', 'the task is paused at once and reads it when it is resumed'],
] as const

function SendForm(props: ActionDialogProps) {
  const { shown, onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  const [message, setMessage] = useState('')
  const [delivery, setDelivery] = useState<string>('steer')
  const [wrong, setWrong] = useState<string | null>(null)
  const keyOf = useMemo(newKeys, [])
  const send = async () => {
    if (message.trim() === '') return setWrong('Say something.')
    setWrong(null)
    const body = { message, delivery }
    await submit(() => api.post(pathOf(shown, '/messages'), body, { 'idempotency-key': keyOf(body) }))
  }
  return (
    <Form
      title="Send a message"
      problem={problem}
      busy={busy}
      submitLabel="Send"
      onClose={onClose}
      onSubmit={() => void send()}
    >
      <TaskName shown={shown} />
      <Field label="Message" wrong={wrong}>
        {(control) => (
          <textarea {...control} rows={4} value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
        )}
      </Field>
      <fieldset>
        <legend>It is read</legend>
        {deliveries.map(([value, words]) => (
          <label class="choice" key={value}>
            <input
              type="radio"
              name="delivery"
              value={value}
              checked={delivery === value}
              onChange={() => setDelivery(value)}
            />
            {value}: {words}
          </label>
        ))}
      </fieldset>
    </Form>
  )
}

function AnswerForm(props: ActionDialogProps) {
  const { shown, onClose } = props
  const { questions } = shown.task
  const [chosen, setChosen] = useState(questions[0]?.id ?? '')
  const question = questions.find(({ id }) => id === chosen) ?? questions[0]
  if (question === undefined) {
    return (
      <Form title="Answer" problem={null} busy={false} submitLabel="Close" onClose={onClose} onSubmit={onClose}>
        <p>Nothing is asked any more.</p>
      </Form>
    )
  }
  return (
    <>
      {questions.length < 2 ? null : (
        <Field label="Question">
          {(control) => (
            <select {...control} value={question.id} onChange={(event) => setChosen(event.currentTarget.value)}>
              {questions.map(({ id, question: text }) => (
                <option key={id} value={id}>
                  {text.slice(0, 80)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <AnswerTo key={question.id} {...props} question={question} />
    </>
  )
}

function AnswerTo(props: ActionDialogProps & { question: ShownTask['task']['questions'][number] }) {
  const { shown, onClose, question } = props
  const { problem, busy, submit } = useSubmit(props)
  const field = useMemo(() => fieldOf(question.schema), [question.id])
  const [entered, setEntered] = useState<Entered>(() => enteredFrom(field, question.default))
  const [wrong, setWrong] = useState<string | null>(null)
  const answer = async () => {
    const read = readEntered(field, entered)
    if (!read.ok) return setWrong(read.message)
    setWrong(null)
    await submit(() => api.post(pathOf(shown, '/answer'), { value: read.value, question: question.id }))
  }
  return (
    <Form
      title="Answer"
      problem={problem}
      busy={busy}
      submitLabel="Send answer"
      onClose={onClose}
      onSubmit={() => void answer()}
    >
      <p class="asked">
        <LongText text={question.question} label="the question" />
      </p>
      <FieldInput field={field} label="Your answer" entered={entered} onChange={setEntered} wrong={wrong} />
      {'default' in question ? <p class="note">Proposed: {JSON.stringify(question.default)}</p> : null}
    </Form>
  )
}

function PriorityForm(props: ActionDialogProps) {
  const { onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  const [read, setRead] = useState(props.shown)
  const [text, setText] = useState(String(read.task.priority))
  const [wrong, setWrong] = useState<string | null>(null)
  const [changes, setChanges] = useState<Change[] | null>(null)
  const save = async () => {
    const priority = Number(text)
    if (text.trim() === '' || !Number.isInteger(priority)) return setWrong('Enter a whole number.')
    setWrong(null)
    const error = await submit(() => api.patch(pathOf(read), { priority }, { 'if-match': `"${read.task.version}"` }))
    if (!(error instanceof ApiError) || error.problem.status !== 412) return
    // Another client changed the task first: its changes are shown, and the input must be confirmed again.
    const fresh = await api.get<ShownTask>(pathOf(read))
    setChanges(changesBetween(read.task, fresh.task))
    setRead(fresh)
  }
  return (
    <Form
      title="Change priority"
      problem={changes === null ? problem : null}
      busy={busy}
      submitLabel={changes === null ? 'Change' : 'Change nonetheless'}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <TaskName shown={read} />
      {changes === null ? null : <Changes changes={changes} />}
      <Field label="Priority" note={`Higher runs first. Now: ${read.task.priority}`} wrong={wrong}>
        {(control) => (
          <input
            {...control}
            type="number"
            step={1}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
    </Form>
  )
}

function Changes({ changes }: { changes: Change[] }) {
  return (
    <div class="problem" role="alert">
      <strong>VERSION_CONFLICT</strong> The task has been changed since it was read:
      <ul>
        {changes.length === 0 ? <li>nothing that is shown here</li> : null}
        {changes.map(({ field, before, after }) => (
          <li key={field}>
            <code>{field}</code>: {before} → {after}
          </li>
        ))}
      </ul>
    </div>
  )
}
