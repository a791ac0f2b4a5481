// Selects a position of the feed and shows all tasks as of that position. Changes are still received and shown on returning to now.

import { useEffect, useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import { readSpan } from '../live/past.ts'
import { clockTime, dateTime } from '../model/format.ts'
import type { TaskEvent } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { followRows, link, past } from '../state/task-list.ts'
import { pastProblem, requestedSeq, travel } from '../state/time-travel.ts'
import { ProblemBox } from './elements.tsx'

export function Scrubber() {
  const [open, setOpen] = useState(false)
  if (!open && requestedSeq.value === null) {
    return (
      <button type="button" class="scrub-open" onClick={() => setOpen(true)}>
        History
      </button>
    )
  }
  return (
    <OpenScrubber
      onClose={() => {
        travel(null)
        setOpen(false)
      }}
    />
  )
}

function OpenScrubber({ onClose }: { onClose: () => void }) {
  const [first, setFirst] = useState<TaskEvent | null>(null)
  const [openedAt, setOpenedAt] = useState(link.store.seq)
  useEffect(() => {
    readSpan(api)
      .then((span) => {
        setFirst(span.first)
        setOpenedAt(span.last)
      })
      .catch((error: unknown) => {
        pastProblem.value = problemOf(error)
      })
  }, [])
  followRows()
  const from = first?.seq ?? 0
  // The right end is fixed while the past is shown, since the slider could not be held otherwise.
  const last = requestedSeq.value === null ? Math.max(openedAt, link.store.seq) : openedAt
  const at = requestedSeq.value ?? last
  const time = past.value?.at
  const label = requestedSeq.value === null ? 'now' : time == null ? `event ${at}` : `event ${at}, ${dateTime(time)}`
  return (
    <div class="scrubber" role="group" aria-label="History">
      <span class="note">{first === null ? '' : clockTime(first.at)}</span>
      <input
        type="range"
        aria-label="As of"
        min={from}
        max={last}
        step={1}
        value={at}
        aria-valuetext={label}
        onInput={(event) => {
          const value = Number(event.currentTarget.value)
          if (requestedSeq.peek() === null) setOpenedAt(last)
          travel(value)
        }}
      />
      <output class="scrub-at">
        {requestedSeq.value === null ? 'now' : `as of ${label}`}
        {requestedSeq.value !== null && past.value?.seq !== requestedSeq.value && pastProblem.value === null
          ? ' …'
          : ''}
      </output>
      <button type="button" onClick={onClose}>
        Back to now
      </button>
      {pastProblem.value === null ? null : <ProblemBox problem={pastProblem.value} />}
    </div>
  )
}
