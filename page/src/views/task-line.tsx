// One line of the list: a task with its state, and what failed and asks below it.

import { Component } from 'preact'
import { age, counted } from '../model/format.ts'
import { isQueued, stateLooks, wordOf } from '../model/lifecycle.ts'
import { lineOfMarkdown } from '../model/markdown.ts'
import { linkTo } from '../model/route.ts'
import type { FlatRow } from '../model/tree.ts'
import type { TaskRow } from '../model/wire.ts'
import { engineStatus } from '../state/engine-status.ts'
import { activeId, go } from '../state/navigation.ts'
import { readQuestions } from '../state/questions.ts'
import { selectRange, toggleSelected } from '../state/selection.ts'
import { toggleFold } from '../state/task-list.ts'
import { StateBadge } from './elements.tsx'

export const lineHeight = 28
/** In UTF-16 units: a cell shows no more. */
const maxQuestionLength = 300

/** A short reason for the state of a task; subscribes the calling component to what it depends on besides the row. */
export function reasonOf(row: TaskRow): string {
  if (row.error !== null && row.status === 'failed') return `${row.error.code}: ${row.error.message}`
  const [question] = row.status === 'input_required' ? (readQuestions.value.get(row.id)?.questions ?? []) : []
  if (question !== undefined) return lineOfMarkdown(question.question, maxQuestionLength)
  if (wordOf(row) === 'interrupted') return 'the process of its engine has ended'
  if (row.statusReason !== null) return row.statusReason
  if (isQueued(row) && lacksExecutor(row)) return `this engine cannot run ${row.executor}`
  if (row.openBlockers > 0) return `blocked by ${row.openBlockers}`
  if (row.held) return row.status === 'paused' ? 'until it is resumed' : 'until it is started'
  if (row.ready && row.executor === null) return row.role === null ? 'can be claimed' : `can be claimed by ${row.role}`
  if (row.status === 'working' && row.progress?.note) return row.progress.note
  return ''
}

function lacksExecutor({ executor }: TaskRow): boolean {
  const status = engineStatus.value
  return executor !== null && status?.working === true && !status.executors.includes(executor)
}

interface LineProps {
  line: FlatRow
  row: TaskRow
  index: number
  active: boolean
  selected: boolean
  /** From `reasonOf`. */
  why: string
  /** In whole seconds; only used for ages. */
  now: number
}

export class Line extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const { line, row, index, active, selected, why, now } = this.props
    return (
      row !== next.row ||
      index !== next.index ||
      active !== next.active ||
      selected !== next.selected ||
      why !== next.why ||
      now !== next.now ||
      line.level !== next.line.level ||
      line.expanded !== next.line.expanded ||
      line.hasChildren !== next.line.hasChildren ||
      line.matches !== next.line.matches ||
      line.failed !== next.line.failed ||
      line.asking !== next.line.asking ||
      line.position !== next.line.position ||
      line.setSize !== next.line.setSize
    )
  }

  override render({ line, row, index, active, selected, why, now }: LineProps) {
    return (
      <div
        role="row"
        id={`line-${row.id}`}
        class={`line${line.matches ? '' : ' dim'}${active ? ' active' : ''}`}
        style={{ transform: `translateY(${index * lineHeight}px)` }}
        aria-level={line.level}
        aria-posinset={line.position}
        aria-setsize={line.setSize}
        aria-rowindex={index + 2}
        aria-selected={selected}
        {...(line.hasChildren ? { 'aria-expanded': line.expanded } : {})}
        tabIndex={active ? 0 : -1}
        onFocus={() => {
          activeId.value = row.id
        }}
        onMouseDown={(event) => {
          // Otherwise the line gets the focus before the range from the focused line is selected.
          if (event.shiftKey) event.preventDefault()
        }}
        onClick={(event) => onClick(event, row.id)}
        onDblClick={() => go({ view: 'task', id: row.id })}
      >
        <div role="gridcell" class="cell pick">
          <PickBox
            label={`Select ${row.name === '' ? row.id : row.name}`}
            checked={selected}
            onPick={(event) => {
              if (event.shiftKey) selectRange(activeId.peek(), row.id)
              else toggleSelected(row.id)
              activeId.value = row.id
            }}
          />
        </div>
        <div role="gridcell" class="cell name" style={{ paddingLeft: `${(Math.min(line.level, 20) - 1) * 16}px` }}>
          <FoldButton line={line} />
          <span class="note">#{row.seq}</span>
          <a href={linkTo({ view: 'task', id: row.id })} tabIndex={-1} title={row.name}>
            {row.name === '' ? row.id : row.name}
          </a>
          {line.hasChildren ? <span class="note">{row.childCount || ''}</span> : null}
          <CountBelow status="input_required" count={line.asking} words={`${counted(line.asking, 'question')} below`} />
          <CountBelow status="failed" count={line.failed} words={`${line.failed} failed below`} />
        </div>
        <div role="gridcell" class="cell">
          <StateBadge status={row.status} word={wordOf(row)} />
        </div>
        <div role="gridcell" class="cell who" title={row.owner ?? row.executor ?? ''}>
          {row.owner === null ? (row.executor ?? (row.group ? 'group' : '')) : `@${row.owner}`}
        </div>
        <div role="gridcell" class="cell progress">
          <ProgressBar row={row} />
        </div>
        <div role="gridcell" class="cell age">
          {age(now - row.createdAt)}
        </div>
        <div role="gridcell" class="cell why" title={why}>
          {why}
        </div>
      </div>
    )
  }
}

function onClick(event: MouseEvent, id: string): void {
  if ((event.target as HTMLElement).closest('a, button') !== null) return
  if (event.shiftKey) selectRange(activeId.peek(), id)
  else if (event.ctrlKey || event.metaKey) toggleSelected(id)
  activeId.value = id
}

function CountBelow({ status, count, words }: { status: 'failed' | 'input_required'; count: number; words: string }) {
  if (count === 0) return null
  return (
    <span class={`below state-${status}`} title={words}>
      <span aria-hidden="true">
        {stateLooks[status].glyph} {count}
      </span>
      <span class="sr">{words}</span>
    </span>
  )
}

interface PickBoxProps {
  label: string
  checked: boolean | 'mixed'
  onPick: (event: MouseEvent) => void
}

/** A checkbox whose state is only ever that of the selection; the keys of the list select, too. */
export function PickBox({ label, checked, onPick }: PickBoxProps) {
  return (
    <button
      type="button"
      role="checkbox"
      class="pick-box"
      tabIndex={-1}
      aria-label={label}
      aria-checked={checked}
      onClick={onPick}
    >
      {checked === 'mixed' ? '−' : checked ? '✓' : ''}
    </button>
  )
}

function FoldButton({ line }: { line: FlatRow }) {
  if (!line.hasChildren) return <span class="fold" />
  return (
    <button
      type="button"
      class="fold"
      tabIndex={-1}
      aria-label={`${line.expanded ? 'Fold' : 'Unfold'} ${line.row.name}`}
      onClick={() => toggleFold(line.row.id)}
    >
      {line.expanded ? '▾' : '▸'}
    </button>
  )
}

function ProgressBar({ row: { progress, status } }: { row: TaskRow }) {
  if (progress === null || status === 'completed') return null
  const percent = Math.round(progress.fraction * 100)
  return (
    <>
      <span class={`bar ${status === 'working' ? '' : 'still'}`} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
      {percent} %
    </>
  )
}
