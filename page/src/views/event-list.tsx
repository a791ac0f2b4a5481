// The events of a task, latest first, in pages.

import { useState } from 'preact/hooks'
import { textIn } from '../model/event-data.ts'
import { clockTime, dateTime } from '../model/format.ts'
import { noteOf } from '../model/history.ts'
import type { TaskEvent } from '../model/wire.ts'
import { travel } from '../state/time-travel.ts'

const pageSize = 50

export function EventList({ events }: { events: TaskEvent[] }) {
  const [limit, setLimit] = useState(pageSize)
  const shown = events.slice(-limit).reverse()
  return (
    <>
      <table class="events">
        <thead>
          <tr>
            <th scope="col">Position</th>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            <th scope="col">State after</th>
            <th scope="col">Note</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((event) => (
            <tr key={event.seq}>
              <td>
                <button
                  type="button"
                  class="link"
                  aria-label={`Show everything as of event ${event.seq}`}
                  onClick={() => travel(event.seq)}
                >
                  {event.seq}
                </button>
              </td>
              <td>
                <time dateTime={new Date(event.at).toISOString()} title={dateTime(event.at)}>
                  {clockTime(event.at, true)}
                </time>
              </td>
              <td>{event.type}</td>
              <td>{textIn(event.data, 'status')}</td>
              <td class="event-note">{noteOf(event)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {events.length > limit ? (
        <button type="button" onClick={() => setLimit(limit + pageSize)}>
          Show {Math.min(pageSize, events.length - limit)} earlier events
        </button>
      ) : null}
    </>
  )
}
