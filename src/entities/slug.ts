// The names of branches: what of a task's name or an agent's id can be a part of one.

const maxSegmentLength = 60

/**
 * A name as a part of a branch: lower case, words joined by single hyphens, at most 60 characters. Letters lose their accents;
 * what is no letter a to z, no digit, space, underscore or hyphen is left out. Empty when nothing is left, and the same for
 * many names: to make it distinct is for the caller.
 *
 * @example
 * slugOf('Fix OAuth2 Bug') // 'fix-oauth2-bug'
 */
export function slugOf(name: string): string {
  const hyphened = withoutAccents(name)
    .toLowerCase()
    .replace(/[^a-z0-9\s_-]+/g, '')
    .replace(/[\s_-]+/g, '-')
    .replace(/^-/, '')
  return cutToSegment(hyphened)
}

/**
 * An agent's id as a part of a branch: letters a to z of either case, digits, `.`, `_` and `-` stay, anything else becomes a
 * hyphen. At most 60 characters, never empty: `agent` when nothing is left. Different ids may become the same.
 *
 * @example
 * safeSegment('a/b c') // 'a-b-c'
 */
export function safeSegment(agentId: string): string {
  const safe = withoutAccents(agentId)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
  return cutToSegment(safe) || 'agent'
}

/** Marks go before the text is normalized, too: to put thousands on one letter in order would take minutes. */
function withoutAccents(text: string): string {
  return text.replace(marks, '').normalize('NFKD').replace(marks, '')
}

const marks = /\p{M}+/gu

function cutToSegment(text: string): string {
  return text.slice(0, maxSegmentLength).replace(/-+$/, '')
}
