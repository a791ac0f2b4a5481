// Reads the error of a model provider by its shape: codes, status, headers, requested delay, and its text without keys.
import type { Clock } from '../core/clock.ts'

/** Maximum delay that a provider may request, in milliseconds: one hour. */
const maxRetryAfterMs = 60 * 60 * 1000

/** The parts of a provider's error that are used, whatever its class. */
export interface ProviderError {
  name: string
  message: string
  /** The machine-readable codes and types of the provider: `insufficient_quota context_length_exceeded`. */
  codes: string
  status: number | undefined
  headers: Record<string, string>
  /** Used for recognition only, never shown. */
  body: string
  isRetryable: boolean | undefined
  causes: string
}

/** A wrapper that retried carries the last error. */
export function rootOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !/RetryError/.test(thrown.name)) return thrown
  return (thrown as { lastError?: unknown }).lastError ?? thrown
}

export function readProviderError(thrown: unknown): ProviderError {
  const error = record(thrown)
  const nested = record(record(error['data'])['error'])
  return {
    name: thrown instanceof Error ? thrown.name : '',
    message: text(thrown) || text(error['message']),
    codes: [error['code'], error['type'], nested['code'], nested['type']]
      .filter((word) => typeof word === 'string')
      .join(' '),
    status: status(error['statusCode']) ?? status(error['status']),
    headers: lowerCased(error['responseHeaders']),
    body: text(error['responseBody']).slice(0, 10_000),
    isRetryable: typeof error['isRetryable'] === 'boolean' ? error['isRetryable'] : undefined,
    causes: causesOf(error['cause']),
  }
}

function causesOf(cause: unknown, depth = 0): string {
  if (typeof cause !== 'object' || cause === null || depth === 5) return ''
  const { code, message, cause: next } = cause as Record<string, unknown>
  return `${text(code)} ${text(message)} ${causesOf(next, depth + 1)}`
}

/**
 * The delay that the provider requests, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as a date,
 * at most `maxRetryAfterMs`. Undefined without either.
 */
export function retryAfter(headers: Record<string, string>, clock: Clock): number | undefined {
  const inMs = number(headers['retry-after-ms'])
  const inSeconds = number(headers['retry-after'])
  const delay = inMs ?? (inSeconds === undefined ? untilDate(headers, clock) : inSeconds * 1000)
  return delay === undefined ? undefined : Math.min(Math.max(0, Math.ceil(delay)), maxRetryAfterMs)
}

/**
 * Measured against the provider's own `date` header if there is one, so that a wrong clock on either side does no harm.
 */
function untilDate(headers: Record<string, string>, clock: Clock): number | undefined {
  const until = Date.parse(headers['retry-after'] ?? '')
  if (Number.isNaN(until)) return undefined
  const now = Date.parse(headers['date'] ?? '')
  return until - (Number.isNaN(now) ? clock.now() : now)
}

function lowerCased(headers: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record(headers)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  )
}

export function quote(message: string): string {
  const quoted = clean(message)
  return quoted === '' ? '' : `: ${quoted.replace(/[.\s]+$/, '')}`
}

const secret =
  /\b(bearer|basic)\s+[^\s"',;]+|\b(sk|pk|rk|gsk|xai|hf|key|tok)[-_][A-Za-z0-9*_-]{6,}|([?&](api[-_]?)?key=)[^&\s"']+/gi

/** A provider's text on one line, without anything that looks like a key. */
export function clean(message: string): string {
  return message
    .replace(secret, '[hidden]')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 500)
}

function number(value: string | undefined): number | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

function status(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600 ? value : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
