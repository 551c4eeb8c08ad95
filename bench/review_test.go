package bench

import "testing"

func TestTheReviewIsMeasured(t *testing.T) {
	r, err := MeasureReview(t.Context(), ReviewSizes{Changed: 20, Tree: 30, Lines: 1000}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if r.First <= 0 || r.Again <= 0 || r.Walk <= 0 || r.Open <= 0 || r.List <= 0 || r.Hunks <= 0 || r.Bytes <= 0 || r.Change <= 0 || r.Git <= 0 || r.Accept <= 0 {
		t.Errorf("not everything is measured: %+v", r)
	}
}
