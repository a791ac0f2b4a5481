// The dialog that answers a question of a task.

import { useMemo, useState } from 'preact/hooks'
import { lineOfMarkdown } from '../model/markdown.ts'
import { type Entered, enteredFrom, fieldOf, readEntered } from '../model/question-form.ts'
import type { Question } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { type ActionDialogProps, Form, pathOf, TaskName, useSubmit } from './action-form.tsx'
import { Field } from './elements.tsx'
import { Markdown } from './markdown.tsx'
import { FieldInput } from './question-fields.tsx'

export function AnswerForm(props: ActionDialogProps) {
  const { shown, onClose } = props
  const { questions } = shown.task
  const [chosen, setChosen] = useState(questions[0]?.id ?? '')
  const question = questions.find(({ id }) => id === chosen) ?? questions[0]
  if (question === undefined) {
    return (
      <Form title="Answer" problem={null} busy={false} submitLabel="Close" onClose={onClose} onSubmit={onClose}>
        <p>The question was answered meanwhile.</p>
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
                  {lineOfMarkdown(text, 80)}
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

function AnswerTo(props: ActionDialogProps & { question: Question }) {
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
      <TaskName shown={shown} />
      <div class="asked">
        <Markdown text={question.question} label="the question" />
      </div>
      <FieldInput field={field} label="Your answer" entered={entered} onChange={setEntered} wrong={wrong} />
      {'default' in question ? <p class="note">Proposed: {JSON.stringify(question.default)}</p> : null}
    </Form>
  )
}
