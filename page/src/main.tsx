// Entry point of the page.

import { render } from 'preact'
import { followStatus } from './state/engine-status.ts'
import { startFilters } from './state/filters.ts'
import { startNavigation } from './state/navigation.ts'
import { link } from './state/task-list.ts'
import { App } from './views/app.tsx'

const root = document.getElementById('page')
if (root === null) throw new Error('The element #page is missing in index.html.')
render(<App />, root)
startNavigation()
startFilters()
void link.load()
void followStatus()
