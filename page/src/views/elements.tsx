// Small components shared by the views: a state, a time, a problem, a long text, and the available width.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { startOf } from '../../../src/core/storable-text.ts'
import { dateTime, duration } from '../model/format.ts'
import { type StateWord, stateLooks } from '../model/lifecycle.ts'
import type { Problem, TaskStatus } from '../model/wire.ts'

export function StateBadge({ status, word = status }: { status: TaskStatus; word?: StateWord }) {
  return (
    <span class={`state state-${status}`}>
      <span class="glyph" aria-hidden="true">
        {stateLooks[status].glyph}
      </span>
      {word}
    </span>
  )
}

export function ProblemBox({ problem, children }: { problem: Problem; children?: ComponentChildren }) {
  return (
    <div class="problem" role="alert">
      <strong>{problem.code}</strong> <span>{problem.detail}</span>
      {children}
    </div>
  )
}

/** A time; its title is the full date. */
export function Time({ at, now }: { at: number; now?: number }) {
  const text = dateTime(at)
  return (
    <time dateTime={new Date(at).toISOString()} title={text}>
      {now === undefined ? text : now - at < 1_000 ? 'just now' : `${duration(now - at)} ago`}
    </time>
  )
}

const defaultLimit = 600

interface LongTextProps {
  text: string
  /** Maximum length in UTF-16 units. */
  limit?: number
  label: string
}

/** A plain text of a task, shortened until it is expanded. */
export function LongText(props: LongTextProps) {
  return <Shortened {...props}>{(shown) => shown}</Shortened>
}

/** A text shortened until it is expanded, as rendered by its child. */
export function Shortened({
  text,
  limit = defaultLimit,
  label,
  children,
}: LongTextProps & { children: (shown: string) => ComponentChildren }) {
  const [whole, setWhole] = useState(false)
  if (text.length <= limit) return <span class="text">{children(text)}</span>
  return (
    <span class="text">
      {children(whole ? text : `${startOf(text, limit)}…`)}{' '}
      <button
        type="button"
        class="link"
        aria-label={`${whole ? 'Show less' : 'Show all'} of ${label}`}
        onClick={() => setWhole(!whole)}
      >
        {whole ? 'show less' : `show all (${text.length.toLocaleString('en')} characters)`}
      </button>
    </span>
  )
}

/** A text of any length in a box of limited height, which scrolls if it must, also with the keyboard. */
export function Bounded({ label, children }: { label: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const node = box.current
    if (node === null) return
    const observer = new ResizeObserver(() => setScrolls(node.scrollHeight > node.clientHeight))
    for (const each of [node, ...node.children]) observer.observe(each)
    return () => observer.disconnect()
  }, [])
  const focusable = scrolls ? { tabIndex: 0, role: 'group' as const, 'aria-label': label } : {}
  return (
    <div class="bounded" ref={box} {...focusable}>
      <div>{children}</div>
    </div>
  )
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [note, setNote] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setNote('copied')
    } catch {
      // Without a secure context there is no clipboard: the id can still be selected.
      setNote('not allowed here')
    }
    setTimeout(() => setNote(''), 2_000)
  }
  return (
    <button type="button" class="link" aria-label={label} onClick={() => void copy()}>
      {note === '' ? 'copy' : note}
    </button>
  )
}

/** A collapsible part of a page with its own heading. */
export function Section({
  title,
  note,
  children,
  open = true,
  className = '',
}: {
  title: string
  note?: ComponentChildren
  children: ComponentChildren
  open?: boolean
  className?: string
}) {
  return (
    <details class={`section ${className}`} open={open}>
      <summary>
        <h2>{title}</h2>
        {note === undefined ? null : <span class="note">{note}</span>}
      </summary>
      <div class="section-body">{children}</div>
    </details>
  )
}

/** Props that connect a control with its label, note and error. */
export interface ControlProps {
  id: string
  'aria-invalid': boolean
  'aria-describedby'?: string
}

interface FieldProps {
  label: string
  note?: string | null | undefined
  /** The error of the input; null if there is none. */
  wrong?: string | null | undefined
  children: (control: ControlProps) => ComponentChildren
}

/** A labeled control. Note and error are its description, so that its name stays short. */
export function Field({ label, note, wrong, children }: FieldProps) {
  const id = useId()
  const [noteId, wrongId] = [`${id}-note`, `${id}-wrong`]
  const described = [note ? noteId : '', wrong ? wrongId : ''].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {note ? (
        <span class="note" id={noteId}>
          {note}
        </span>
      ) : null}
      {children({ id, 'aria-invalid': Boolean(wrong), ...(described === '' ? {} : { 'aria-describedby': described }) })}
      {wrong ? (
        <span class="wrong" id={wrongId}>
          {wrong}
        </span>
      ) : null}
    </div>
  )
}

/** The current width of an element; 0 before it is measured. */
export function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const node = element.current
    if (node === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(node)
    setWidth(Math.floor(node.clientWidth))
    return () => observer.disconnect()
  }, [element])
  return width
}

/** Focuses the opened view, so that keyboard users continue there and not at the top of the document. */
export function useFocusOnOpen(): void {
  useEffect(focusMainIfLost, [])
}

/** Focuses the view if the element that had the focus is gone. */
export function focusMainIfLost(): void {
  if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true })
}

/** The time, updated once a second, for ages. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

const nearTheEnd = 40

/** Props of a box that scrolls along with what is added at its end, unless its end is out of sight. */
export function useFollowedEnd() {
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    const node = box.current
    if (node !== null && atEnd.current) node.scrollTop = node.scrollHeight
  })
  const onScroll = ({ currentTarget: node }: { currentTarget: HTMLDivElement }) => {
    atEnd.current = node.scrollTop + node.clientHeight > node.scrollHeight - nearTheEnd
  }
  return { ref: box, onScroll }
}

/** Opens as a modal dialog; Escape closes it. */
export function Dialog({
  label,
  onClose,
  children,
  wide = false,
}: {
  label: string
  onClose: () => void
  wide?: boolean
  children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const isOver = useRef(false)
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => {
      isOver.current = true
      dialog?.close()
      // The button that opened the dialog may be gone, because the state of the task has changed.
      focusMainIfLost()
    }
  }, [])
  // Escape fires `cancel` at once and `close` later, when the next key may have opened another dialog, which must stay.
  const close = () => {
    if (isOver.current) return
    isOver.current = true
    onClose()
  }
  return (
    <dialog ref={element} aria-label={label} onCancel={close} onClose={close} class={wide ? 'wide' : ''}>
      {children}
    </dialog>
  )
}
