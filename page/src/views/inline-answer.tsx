// The answer to a question where it is shown: buttons for a few values, an input for a short one, and for any other a button that opens its
// form. A refusal is shown beside it.

import { useMemo, useState } from 'preact/hooks'
import { startOf } from '../../../src/core/storable-text.ts'
import { problemOf, withNumber } from '../live/api-client.ts'
import { lineOfMarkdown } from '../model/markdown.ts'
import { type Entered, enteredFrom, type Field, fieldOf, readEntered } from '../model/question-form.ts'
import { type SimpleButton, simpleAnswerOf } from '../model/simple-answers.ts'
import type { Question, TaskRow } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { announce } from '../state/navigation.ts'
import { asked } from '../state/selection.ts'

interface InlineAnswerProps {
  task: Pick<TaskRow, 'id' | 'seq'>
  question: Question
  onAnswered: () => void
}

export function InlineAnswer({ task, question, onAnswered }: InlineAnswerProps) {
  const simple = useMemo(() => simpleAnswerOf(fieldOf(question.schema)), [question.id])
  const [wrong, setWrong] = useState('')
  const [busy, setBusy] = useState(false)
  if (simple === null) return <AnswerButton taskId={task.id} name={lineOfMarkdown(question.question, 80)} />
  const answer = async (value: unknown) => {
    setBusy(true)
    setWrong('')
    try {
      await api.post(`tasks/${encodeURIComponent(task.id)}/answer`, { value, question: question.id })
      announce(`Answered: ${lineOfMarkdown(question.question, 80)}`)
      onAnswered()
    } catch (error) {
      const { code, detail } = withNumber(problemOf(error), task)
      setWrong(`${code}: ${detail}`)
      setBusy(false)
    }
  }
  const props = { question, busy, onAnswer: (value: unknown) => void answer(value), onWrong: setWrong }
  return (
    <div class="answers">
      {simple.kind === 'buttons' ? (
        <Buttons {...props} answers={simple.answers} />
      ) : (
        <Input {...props} field={simple.field} />
      )}
      {wrong === '' ? null : (
        <p class="wrong" role="alert">
          {wrong}
        </p>
      )}
    </div>
  )
}

/** Opens the form for the questions of a task. */
export function AnswerButton({ taskId, name }: { taskId: string; name: string }) {
  return (
    <div class="answers">
      <button
        type="button"
        class="primary"
        aria-label={`Answer: ${startOf(name, 80)}`}
        onClick={() => {
          asked.value = { action: 'answer', id: taskId }
        }}
      >
        Answer…
      </button>
    </div>
  )
}

interface AnswerProps {
  question: Question
  busy: boolean
  onAnswer: (value: unknown) => void
  onWrong: (message: string) => void
}

function Buttons({ question, answers, busy, onAnswer }: AnswerProps & { answers: SimpleButton[] }) {
  const proposed = JSON.stringify(question.default)
  return (
    <>
      {answers.map(({ label, value }) => (
        <button
          type="button"
          key={label}
          class={JSON.stringify(value) === proposed ? 'primary' : ''}
          disabled={busy}
          aria-label={`${label}: answer to ${lineOfMarkdown(question.question, 80)}`}
          onClick={() => onAnswer(value)}
        >
          {label}
        </button>
      ))}
    </>
  )
}

function Input({ question, field, busy, onAnswer, onWrong }: AnswerProps & { field: Field }) {
  const [entered, setEntered] = useState<Entered>(() => enteredFrom(field, question.default))
  const send = () => {
    const read = readEntered(field, entered)
    if (!read.ok) onWrong(read.message)
    else if (read.value === '') onWrong('Enter an answer.')
    else onAnswer(read.value)
  }
  return (
    <form
      class="inline-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <input
        type="text"
        inputMode={field.kind === 'number' ? 'decimal' : 'text'}
        aria-label={`Your answer to ${lineOfMarkdown(question.question, 80)}`}
        value={typeof entered === 'string' ? entered : ''}
        onInput={(event) => setEntered(event.currentTarget.value)}
      />
      <button type="submit" disabled={busy}>
        Send
      </button>
    </form>
  )
}
