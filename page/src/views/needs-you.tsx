// What needs a person, above everything else: questions with buttons for simple answers, failures, and executors that no engine runs.

import { useEffect, useState } from 'preact/hooks'
import { startOf } from '../../../src/core/storable-text.ts'
import { failureOf } from '../model/attention.ts'
import { age, counted } from '../model/format.ts'
import { linkTo } from '../model/route.ts'
import type { Question, TaskRow } from '../model/wire.ts'
import { missing as missingExecutors } from '../state/engine-status.ts'
import { choose } from '../state/filters.ts'
import { readQuestions, requireQuestions } from '../state/questions.ts'
import { asked } from '../state/selection.ts'
import { dismissFailures, link, listing, past } from '../state/task-list.ts'
import { Bounded, LongText, useNow } from './elements.tsx'
import { AnswerButton, InlineAnswer } from './inline-answer.tsx'
import { Markdown } from './markdown.tsx'

/** Number of entries before all are shown, some of them failures, and the maximum then: the list below has the rest. */
const fewEntries = 5
const fewFailures = 2
const maxEntries = 60
/** In UTF-16 units; the rest is shown on request. A long text scrolls. */
const maxQuestionLength = 1_000
/** Questions that are read for the list, in addition to those shown here. */
const readAhead = 20
const needsId = 'needs-you'

export function NeedsYou() {
  const [all, setAll] = useState(false)
  const now = useNow(5_000)
  const { questions, failures } = listing.value.attention
  const missing = missingExecutors.value
  const limit = all ? maxEntries : fewEntries
  const shownQuestions = questions.slice(0, limit - Math.min(fewFailures, failures.length))
  const shownFailures = failures.slice(0, Math.max(0, limit - shownQuestions.length))
  useEffect(
    () => requireQuestions(questions.slice(0, Math.max(limit, readAhead))),
    [listing.value, readQuestions.value, limit],
  )
  const settling = useSettling([...shownQuestions, ...shownFailures].map(({ id }) => id))
  const total = questions.length + failures.length
  if (past.value !== null || total + missing.length === 0) return null
  const shown = shownQuestions.length + shownFailures.length
  return (
    <section class="needs" id={needsId} tabIndex={-1} aria-label="Needs you">
      <header>
        <h2>Needs you</h2>
        <span class="note">
          {[
            questions.length === 0 ? '' : counted(questions.length, 'question'),
            failures.length === 0 ? '' : counted(failures.length, 'failure'),
          ]
            .filter(Boolean)
            .join(', ')}
        </span>
        <span class="spring" />
        {failures.length < 2 ? null : <FailureTools failures={failures} />}
        {total <= fewEntries ? null : (
          <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? 'show fewer' : `show all ${total.toLocaleString('en')}`}
          </button>
        )}
      </header>
      <ul
        class={`${all ? 'all' : ''}${settling ? ' settling' : ''}`}
        tabIndex={all ? 0 : -1}
        aria-label="What needs you"
      >
        {shownQuestions.map((row) => (
          <Asking key={row.id} row={row} now={now} />
        ))}
        {shownFailures.map((row) => (
          <Failure key={failureOf(row)} row={row} now={now} />
        ))}
        {missing.length === 0 ? null : <MissingExecutors />}
        {all && shown < total ? (
          <li class="note">{(total - shown).toLocaleString('en')} more are in the list below.</li>
        ) : null}
      </ul>
    </section>
  )
}

const settleMs = 400

/** True for a moment after an entry has gone and others have moved to its place. */
function useSettling(ids: string[]): boolean {
  const [settled, setSettled] = useState(ids)
  const isSettling = settled.some((id) => !ids.includes(id))
  useEffect(() => {
    const timer = setTimeout(() => setSettled(ids), isSettling ? settleMs : 0)
    return () => clearTimeout(timer)
  }, [ids.join()])
  return isSettling
}

function FailureTools({ failures }: { failures: TaskRow[] }) {
  return (
    <>
      <button
        type="button"
        class="link"
        onClick={() => {
          asked.value = { action: 'retry', ids: failures.map(({ id }) => id) }
        }}
      >
        retry all failures
      </button>
      <button type="button" class="link" onClick={() => dismissFailures(failures.map(failureOf))}>
        dismiss all failures
      </button>
    </>
  )
}

function MissingExecutors() {
  const missing = missingExecutors.value
  const queued = missing.reduce((sum, each) => sum + each.queued, 0)
  return (
    <li class="need state-waiting">
      <Glyph text="!" />
      <div class="need-text">
        <p>
          {queued === 1 ? '1 queued task needs' : `${queued.toLocaleString('en')} queued tasks need`}{' '}
          {missing.length === 1 ? 'an executor' : 'executors'} that this engine cannot run
        </p>
        <p class="note">Start an engine that has {missing.length === 1 ? 'it' : 'them'}, on the same ledger.</p>
      </div>
      <div class="answers">
        {missing.slice(0, fewEntries).map(({ executor, queued: count }) => (
          <button
            type="button"
            key={executor}
            aria-label={`Show the tasks of the executor ${executor}`}
            onClick={() => choose({ executor })}
          >
            {executor} ({count.toLocaleString('en')})
          </button>
        ))}
      </div>
    </li>
  )
}

function Asking({ row, now }: { row: TaskRow; now: number }) {
  const questions = readQuestions.value.get(row.id)?.questions ?? []
  if (questions.length === 0) {
    return (
      <li class="need state-input_required">
        <Glyph text="?" />
        <div class="need-text">
          <p class="note">It asks a question…</p>
          <Where row={row} since={waitedFor(row, now)} />
        </div>
        <AnswerButton taskId={row.id} name={row.name} />
      </li>
    )
  }
  return (
    <>
      {questions.map((question) => (
        <li class="need state-input_required" key={question.id}>
          <Glyph text="?" />
          <div class="need-text">
            <div class="asked">
              <Bounded label="Question">
                <Markdown text={question.question} label="the question" limit={maxQuestionLength} />
              </Bounded>
            </div>
            <Where row={row} since={waitedFor(row, now)} more={fallbackOf(question, now)} />
          </div>
          <InlineAnswer task={row} question={question} onAnswered={focusNeeds} />
        </li>
      ))}
    </>
  )
}

/** The entry with the focus goes with its answer: the keyboard stays in the section. */
function focusNeeds(): void {
  document.getElementById(needsId)?.focus({ preventScroll: true })
}

/** The default of a question, and when it becomes the answer. */
function fallbackOf(question: Question, now: number): string {
  const fallback = 'default' in question ? JSON.stringify(question.default) : null
  if (question.dueAt === null) return fallback === null ? '' : `proposed: ${fallback}`
  const rest = age(Math.max(1_000, question.dueAt - now))
  return fallback === null ? `times out in ${rest}` : `${fallback} in ${rest} without an answer`
}

function Failure({ row, now }: { row: TaskRow; now: number }) {
  const { code, message } = row.error ?? { code: '', message: 'The task failed.' }
  return (
    <li class="need state-failed">
      <Glyph text="✕" />
      <div class="need-text">
        <p>
          <LongText text={message} label="the error" limit={200} /> <code class="note">{code}</code>
        </p>
        <Where row={row} since={failedAgo(row, now)} more={row.attempt > 1 ? `attempt ${row.attempt}` : ''} />
      </div>
      <div class="answers">
        <button
          type="button"
          aria-label={`Retry ${row.name}`}
          onClick={() => {
            asked.value = { action: 'retry', ids: [row.id] }
          }}
        >
          Retry
        </button>
        <button type="button" aria-label={`Dismiss ${row.name}`} onClick={() => dismissFailures([failureOf(row)])}>
          Dismiss
        </button>
      </div>
    </li>
  )
}

function Glyph({ text }: { text: string }) {
  return (
    <span class="glyph" aria-hidden="true">
      {text}
    </span>
  )
}

function waitedFor({ updatedAt }: TaskRow, now: number): string {
  return now - updatedAt < 1_000 ? 'just asked' : `waiting for ${age(now - updatedAt)}`
}

function failedAgo({ updatedAt }: TaskRow, now: number): string {
  return now - updatedAt < 1_000 ? 'just now' : `${age(now - updatedAt)} ago`
}

/** The task, its parent, and since when. */
function Where({ row, since, more = '' }: { row: TaskRow; since: string; more?: string }) {
  const parent = row.parentId === null ? undefined : link.store.rows.get(row.parentId)
  return (
    <p class="note where">
      <a href={linkTo({ view: 'task', id: row.id })}>{row.name === '' ? row.id : row.name}</a>
      {parent === undefined ? '' : ` in ${startOf(parent.name, 60)}`}, {since}
      {more === '' ? '' : `, ${more}`}
    </p>
  )
}
