// The dialog of an action that a key or the list has asked for: an answer to one task, or a change of several.

import { useEffect, useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import type { Problem, ShownTask } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { session } from '../state/navigation.ts'
import { asked } from '../state/selection.ts'
import { ActionDialog } from './action-dialog.tsx'
import { BulkDialog } from './bulk.tsx'
import { Dialog, ProblemBox } from './elements.tsx'

export function AskedDialog() {
  const open = asked.value
  const close = () => {
    asked.value = null
  }
  if (open === null) return null
  if (open.action === 'answer') return <AnswerDialog key={open.id} id={open.id} onClose={close} />
  return <BulkDialog action={open.action} ids={open.ids} onClose={close} />
}

function AnswerDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [shown, setShown] = useState<ShownTask | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    api.get<ShownTask>(`tasks/${encodeURIComponent(id)}`).then(setShown, (error) => setProblem(problemOf(error)))
  }, [id])
  if (problem !== null) {
    return (
      <Dialog label="Answer" onClose={onClose}>
        <ProblemBox problem={problem} />
      </Dialog>
    )
  }
  if (shown === null) return null
  return <ActionDialog action="answer" shown={shown} onClose={onClose} onDone={() => void session.peek()?.read()} />
}
