// The page begins here.

import { render } from 'preact'
import { begin } from './state.ts'
import { App } from './views/app.tsx'

const place = document.getElementById('page')
if (place === null) throw new Error('The page has no place: #page is missing in index.html.')
render(<App />, place)
begin()
