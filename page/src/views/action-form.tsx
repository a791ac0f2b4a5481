// What the dialogs of all actions share: the form with its buttons, and the request with its outcome. A refusal is shown in the form, and the
// input is kept.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { problemOf, withNumber } from '../live/api-client.ts'
import { type Action, actionLabels } from '../model/lifecycle.ts'
import type { Problem, ShownTask } from '../model/wire.ts'
import { announce } from '../state/navigation.ts'
import { LongText, ProblemBox } from './elements.tsx'

export interface ActionDialogProps {
  action: Action
  shown: ShownTask
  onClose: () => void
  onDone: () => void
}

interface SubmitProps extends Pick<ActionDialogProps, 'onClose' | 'onDone'> {
  label: string
  name: string
  refusalOf?: (error: unknown) => Problem
}

/** Submits the request of an action on a task. */
export function useSubmit({ action, shown, ...dialog }: ActionDialogProps) {
  const refusalOf = (error: unknown) => withNumber(problemOf(error), shown.task)
  return useRequest({ label: actionLabels[action], name: shown.task.name, refusalOf, ...dialog })
}

/** Sends the request, shows its outcome, and closes the dialog on success. */
export function useRequest({ label, name, refusalOf = problemOf, onClose, onDone }: SubmitProps) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (request: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await request()
      announce(`${label}: done for ${name}`)
      onDone()
      onClose()
    } catch (error) {
      const refusal = refusalOf(error)
      setProblem(refusal)
      announce(`${label} refused: ${refusal.detail}`)
      return error
    } finally {
      setBusy(false)
    }
    return undefined
  }
  return { problem, busy, submit }
}

export function pathOf({ task }: ShownTask, verb = ''): string {
  return `tasks/${encodeURIComponent(task.id)}${verb}`
}

interface FormProps {
  title: string
  children: ComponentChildren
  problem: Problem | null
  busy: boolean
  submitLabel: string
  danger?: boolean
  onSubmit: () => void
  onClose: () => void
  /** Ends what is under way; while it is given, it takes the place of `onClose`. */
  onStop?: (() => void) | undefined
}

export function Form(props: FormProps) {
  const { title, children, problem, busy, submitLabel, danger = false, onSubmit, onClose, onStop } = props
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
        <button type="button" onClick={onStop ?? onClose}>
          {onStop === undefined ? 'Close' : 'Stop'}
        </button>
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy}>
          {busy ? `${submitLabel}…` : submitLabel}
        </button>
      </div>
    </form>
  )
}

export function TaskName({ shown: { task } }: { shown: ShownTask }) {
  return (
    <p class="dialog-task">
      <LongText text={task.name} label="the name" limit={120} /> <code>#{task.seq}</code>
    </p>
  )
}
