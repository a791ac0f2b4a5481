// Reads the error of a model provider by its shape: codes, status, headers, requested delay, and its text without keys.

import type { Clock } from '../../core/clock.ts'
import { startOf } from '../../core/storable-text.ts'

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
  body: string
  /** What did not fit the protocol, as text; empty without it. */
  misfit: string
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
  const body = startOf(text(error['responseBody']), 10_000)
  const message = text(thrown) || text(error['message'])
  return {
    name: thrown instanceof Error ? thrown.name : '',
    // The words of the status alone say nothing; the body that a package did not understand may.
    message: statusWords.test(message) && body.trim() !== '' ? `${message}: ${saidIn(body)}` : message,
    codes: [error['code'], error['type'], nested['code'], nested['type']]
      .filter((word) => typeof word === 'string')
      .join(' '),
    status: status(error['statusCode']) ?? status(error['status']),
    headers: lowerCased(error['responseHeaders']),
    body,
    misfit: misfitIn(error),
    isRetryable: typeof error['isRetryable'] === 'boolean' ? error['isRetryable'] : undefined,
    causes: causesOf(error['cause']),
  }
}

const statusWords =
  /^(|Bad Request|Unprocessable( Entity| Content)?|Not Found|Method Not Allowed|Payload Too Large|Internal Server Error)$/i

/** The message in a body of JSON, whatever its shape; else the body itself. */
export function saidIn(body: string): string {
  try {
    const [first] = [JSON.parse(body) as unknown].flat()
    const { error, detail, message } = record(first)
    const said = [error, record(error)['message'], message, detail].find(
      (each) => typeof each === 'string' && each !== '',
    )
    return typeof said === 'string' ? said : body
  } catch {
    return body
  }
}

const maxMisfitLength = 200

/** The text that is not JSON, or the value that has another shape, with the first place that does not fit. */
function misfitIn(error: Record<string, unknown>): string {
  const { text: given, value, cause } = error
  const found = typeof given === 'string' ? given : value === undefined ? '' : (JSON.stringify(value) ?? '')
  const [issue] = [record(cause)['issues'] ?? []].flat()
  const path = [record(issue)['path'] ?? []].flat().map(String).join('.')
  return `${startOf(found, maxMisfitLength)}${path === '' ? '' : ` (at ${path})`}`
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
export function retryAfter(given: unknown, clock: Clock): number | undefined {
  const headers = lowerCased(given)
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
  const line = message
    .replace(secret, '[hidden]')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return startOf(line, 500)
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
