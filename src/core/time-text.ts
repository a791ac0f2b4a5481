// Times as people write them in plans and options. `Date.parse` moves days that do not exist (30 February is 2 March), reads a date alone in
// another zone than a date with a time, and takes a bare number for a year.

const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/** The accepted forms, for messages. */
export const timeForms = '"2030-01-31T08:00:00Z", or "2030-01-31 08:00" or "2030-01-31" in the local time zone'

/**
 * Epoch milliseconds of an ISO 8601 date or time. Without a zone it is local, and a date alone is its first moment. Undefined for other texts
 * and for times that do not exist, also in the local zone.
 */
export function parseTime(text: string): number | undefined {
  const match = pattern.exec(text.trim())
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const fraction = Number((match[7] ?? '').padEnd(3, '0'))
  const given = [year, month, day, hour, minute, second]
  const zone = match[8]
  if (zone === undefined) {
    const at = new Date(year, month - 1, day, hour, minute, second, fraction)
    const shown = [at.getFullYear(), at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()]
    return isSame(given, shown) ? at.getTime() : undefined
  }
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second, fraction))
  const shown = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()]
  const offsetMs = offsetOf(zone)
  const exists = isSame(given, [...shown, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()])
  return exists && offsetMs !== undefined ? at.getTime() - offsetMs : undefined
}

function isSame(given: readonly number[], shown: readonly number[]): boolean {
  return given.every((part, index) => part === shown[index])
}

function offsetOf(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))]
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
