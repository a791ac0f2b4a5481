// The dialog of an action on a task. Actions with an input of their own have a form of their own; the others only need a confirmation.

import { useState } from 'preact/hooks'
import { startOf } from '../../../src/core/storable-text.ts'
import { counted } from '../model/format.ts'
import { type Action, actionLabels, isSettled } from '../model/lifecycle.ts'
import { api } from '../state/api.ts'
import { link } from '../state/task-list.ts'
import { type ActionDialogProps, Form, pathOf, TaskName, useSubmit } from './action-form.tsx'
import { AnswerForm } from './answer-form.tsx'
import { Dialog, Field } from './elements.tsx'
import { ForkForm } from './fork-form.tsx'
import { MessageForm } from './message-form.tsx'
import { PriorityForm } from './priority-form.tsx'

export function ActionDialog(props: ActionDialogProps) {
  const { action, shown, onClose } = props
  return (
    <Dialog label={`${actionLabels[action]}: ${startOf(shown.task.name, 80)}`} onClose={onClose}>
      <Body {...props} />
    </Dialog>
  )
}

function Body(props: ActionDialogProps) {
  if (props.action === 'answer') return <AnswerForm {...props} />
  if (props.action === 'send') return <MessageForm {...props} />
  if (props.action === 'priority') return <PriorityForm {...props} />
  if (props.action === 'fork') return <ForkForm {...props} />
  if (props.action === 'cancel') return <CancelForm {...props} />
  return <Confirmation {...props} />
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
      title={`${actionLabels[action]} this task?`}
      problem={problem}
      busy={busy}
      submitLabel={actionLabels[action]}
      onClose={onClose}
      onSubmit={() => void submit(() => api.post(pathOf(shown, `/${action}`), {}))}
    >
      <TaskName shown={shown} />
      <p>{consequences[action]}</p>
    </Form>
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
        This cannot be undone.{' '}
        {below === 0
          ? 'No task below it is open.'
          : `${counted(below, 'open task')} below it ${below === 1 ? 'is' : 'are'} canceled, too.`}
      </p>
      <Field label="Reason (optional)">
        {(control) => (
          <input {...control} type="text" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        )}
      </Field>
    </Form>
  )
}
