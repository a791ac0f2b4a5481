// Parameters as one short line, for labels: `city: Oslo, days: 3`.

import { clipped, startOf } from '../../../src/core/storable-text.ts'

const maxEntries = 4
const maxValueLength = 40

/** Empty for no parameters. Nested values are only hinted at. */
export function paramsText(params: unknown): string {
  if (typeof params !== 'object' || params === null) return params === null ? '' : valueText(params)
  const entries = Object.entries(params)
  const shown = entries.slice(0, maxEntries).map(([key, value]) => {
    return Array.isArray(params) ? valueText(value) : `${key}: ${valueText(value)}`
  })
  return `${shown.join(', ')}${entries.length > maxEntries ? ', …' : ''}`
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.length}]`
  if (typeof value === 'object' && value !== null) return '{…}'
  const text = typeof value === 'string' ? startOf(value, maxValueLength + 2).replaceAll(/\s+/g, ' ') : String(value)
  return clipped(text, maxValueLength + 1)
}
