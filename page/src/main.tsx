// Entry point of the page.

import { render } from 'preact'
import { begin } from './state.ts'
import { App } from './views/app.tsx'

const root = document.getElementById('page')
if (root === null) throw new Error('The element #page is missing in index.html.')
render(<App />, root)
begin()
