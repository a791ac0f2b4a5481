// A JSON value as a tree whose nodes are rendered when they are opened, so that large values stay cheap.

import { useState } from 'preact/hooks'
import { LongText } from './elements.tsx'

const maxEntries = 100

export function JsonTree({ value, label, open = 1 }: { value: unknown; label: string; open?: number }) {
  if (typeof value !== 'object' || value === null) return <Plain value={value} label={label} />
  const entries = Object.entries(value)
  if (entries.length === 0) return <span class="json-empty">{Array.isArray(value) ? '[]' : '{}'}</span>
  return <Entries entries={entries} isList={Array.isArray(value)} label={label} open={open} />
}

function Plain({ value, label }: { value: unknown; label: string }) {
  if (typeof value === 'string') return <LongText text={value} label={label} limit={300} />
  return <span class={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value) ?? 'nothing'}</span>
}

interface EntriesProps {
  entries: Array<[string, unknown]>
  isList: boolean
  label: string
  open: number
}

function Entries({ entries, isList, label, open }: EntriesProps) {
  const [limit, setLimit] = useState(maxEntries)
  return (
    <ul class="json">
      {entries.slice(0, limit).map(([key, value]) => (
        <li key={key}>
          <Entry name={key} value={value} isList={isList} open={open} />
        </li>
      ))}
      {entries.length > limit ? (
        <li>
          <button
            type="button"
            class="link"
            onClick={() => setLimit(limit + maxEntries)}
            aria-label={`Show more of ${label}`}
          >
            {entries.length - limit} more
          </button>
        </li>
      ) : null}
    </ul>
  )
}

function Entry({ name, value, isList, open }: { name: string; value: unknown; isList: boolean; open: number }) {
  const [shown, setShown] = useState(open > 0)
  const key = <span class={isList ? 'json-index' : 'json-key'}>{name}</span>
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return (
      <>
        {key}: <JsonTree value={value} label={name} />
      </>
    )
  }
  const count = Object.keys(value).length
  const size = Array.isArray(value)
    ? `${count} ${count === 1 ? 'item' : 'items'}`
    : `${count} ${count === 1 ? 'field' : 'fields'}`
  return (
    <details open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        {key} <span class="note">{size}</span>
      </summary>
      {shown ? <JsonTree value={value} label={name} open={open - 1} /> : null}
    </details>
  )
}
