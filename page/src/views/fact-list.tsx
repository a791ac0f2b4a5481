// The facts found while working on a task, newest first, in pages.

import { useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import type { TaskSession } from '../live/task-session.ts'
import { sourceLabel } from '../model/fact-sources.ts'
import type { Fact, Problem } from '../model/wire.ts'
import { LongText, ProblemBox, Time } from './elements.tsx'

export function FactList({ open }: { open: TaskSession }) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const showMore = async () => {
    setBusy(true)
    setProblem(null)
    try {
      await open.showOlderFacts()
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <ul class="plain fact-list" aria-label="Facts">
        {open.facts.value.map((fact) => (
          <FactItem key={fact.id} fact={fact} />
        ))}
      </ul>
      {problem === null ? null : <ProblemBox problem={problem} />}
      {open.olderFacts.value === null ? null : (
        <button type="button" disabled={busy} onClick={() => void showMore()}>
          Show more facts
        </button>
      )}
    </>
  )
}

function FactItem({ fact }: { fact: Fact }) {
  const { text, category, confidence, statedBy, status, verdict, disputed, agentId, createdAt } = fact
  const notes = [
    category,
    `${Math.round(confidence * 100)} % sure`,
    status,
    verdict,
    disputed === true ? 'disputed' : undefined,
    agentId,
    sourceLabel(statedBy),
  ]
  return (
    <li class={`fact is-${status}`}>
      <LongText text={text} label="fact" limit={300} />{' '}
      <span class="note">
        {notes.filter((note) => note !== undefined).join(', ')}, <Time at={createdAt} />
      </span>
    </li>
  )
}
