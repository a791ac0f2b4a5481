// The frame around every view: header, connection status, announcements for screen readers, and global keys.

import { useEffect, useState } from 'preact/hooks'
import { choose, linkToAll } from '../state/filters.ts'
import { askByKey } from '../state/keyed-actions.ts'
import { announcement, go, linkToNew, route } from '../state/navigation.ts'
import { select, selected } from '../state/selection.ts'
import { connection, refusal, wasConnected } from '../state/task-list.ts'
import { type Theme, theme } from '../state/theme.ts'
import { AskedDialog } from './asked-dialog.tsx'
import { Charts } from './charts.tsx'
import { CreateTask } from './create-task.tsx'
import { ProblemBox } from './elements.tsx'
import { Engines } from './engines.tsx'
import { searchId } from './filters.tsx'
import { onKey } from './grid-keys.ts'
import { HelpDialog } from './help-dialog.tsx'
import { Overview } from './overview.tsx'
import { Schedules } from './schedules.tsx'
import { TaskPage } from './task-page.tsx'

export function App() {
  const [help, setHelp] = useState(false)
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onGlobalKey(event, () => setHelp(true))
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header onHelp={() => setHelp(true)} />
      <Banner />
      <View />
      <div class="sr" role="status" aria-live="polite">
        {announcement.value}
      </div>
      <AskedDialog />
      {help ? <HelpDialog onClose={() => setHelp(false)} /> : null}
    </>
  )
}

function View() {
  const here = route.value
  if (here.view === 'task') return <TaskPage />
  if (here.view === 'new') return <CreateTask />
  if (here.view === 'schedules') return <Schedules />
  if (here.view === 'engines') return <Engines />
  if (here.view === 'charts') return <Charts />
  return <Overview />
}

function Header({ onHelp }: { onHelp: () => void }) {
  const { view } = route.value
  return (
    <header class="top">
      <a href={linkToAll.value} class="brand" {...(view === 'overview' ? { 'aria-current': 'page' as const } : {})}>
        errand
      </a>
      <ConnectionSign />
      <span class="spring" />
      <a href={linkToNew} class="button" {...(view === 'new' ? { 'aria-current': 'page' as const } : {})}>
        New task
      </a>
      <label class="select">
        <span class="sr">Theme</span>
        <select
          aria-label="Theme"
          value={theme.value}
          onChange={(event) => {
            theme.value = event.currentTarget.value as Theme
          }}
        >
          <option value="auto">auto</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <button type="button" aria-label="Help" onClick={onHelp}>
        ?
      </button>
    </header>
  )
}

function ConnectionSign() {
  const labels = { open: '● live', connecting: '○ connecting', broken: '○ disconnected' }
  return <span class={`connection is-${connection.value}`}>{labels[connection.value]}</span>
}

function Banner() {
  if (refusal.value !== null) {
    return (
      <div class="banner">
        <ProblemBox problem={refusal.value} />
      </div>
    )
  }
  const away = connection.value === 'broken' || (connection.value === 'connecting' && wasConnected.value)
  if (!away) return null
  return (
    <div class="banner" role="status">
      Reconnecting… The page shows the state at the time when the connection broke.
    </div>
  )
}

function onGlobalKey(event: KeyboardEvent, openHelp: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null) return
  const target = event.target as HTMLElement
  const search = document.getElementById(searchId)
  const typing = target.closest('input, textarea, select') !== null
  if (event.key === 'Escape') {
    onEscape(target, search)
    return
  }
  if (typing) return
  if (event.key === '?') openHelp()
  else if (event.key === '/' && search !== null) search.focus()
  else if (event.key === 'n') go({ view: 'new', parentId: null })
  // An element that scrolls needs the keys of the list itself.
  else if (route.peek().view === 'overview' && target.closest('button, a, [role=row], [tabindex="0"]') === null) {
    if (!onKey(event, document.querySelector<HTMLElement>('.grid-body')) && askByKey(event.key)) event.preventDefault()
    return
  } else if (!askByKey(event.key)) return
  event.preventDefault()
}

function onEscape(target: HTMLElement, search: HTMLElement | null): void {
  if (target === search) {
    choose({ text: '' })
    search.blur()
  } else if (selected.peek().size > 0 && route.peek().view === 'overview') select([])
  else if (route.peek().view !== 'overview') location.hash = linkToAll.peek()
}
